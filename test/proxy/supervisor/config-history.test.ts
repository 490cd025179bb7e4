import { describe, expect, test } from '@jest/globals';

import { ConfigHistory } from '../../../proxy/supervisor/config-history.ts';
import type { ProcessConfig } from '../../../src/config/ir/index.ts';
import { Secret } from '../../../src/shared/secret.ts';
import { gatewayConfig } from './world.ts';

const read = (settings: Partial<ProcessConfig>) => ({
  config: gatewayConfig(settings),
  revision: JSON.stringify(settings),
  files: [],
  written: '',
  warnings: [],
});
const sessions = (key: string, ttlMs = 1) => ({ mcpSessions: { key: new Secret(key), ttlMs } });

describe('settings that wait for a restart', () => {
  test('are named as they are written', () => {
    const history = new ConfigHistory('config.yaml', read(sessions('a')));
    history.accept(read(sessions('a', 2)));
    expect(history.status().restartNeeded).toEqual(['config.mcp.sessionTtl']);
  });

  test('are told of secrets too, which are not shown', () => {
    const history = new ConfigHistory('config.yaml', read(sessions('one-secret')));
    expect(history.status().restartNeeded).toEqual([]);
    history.accept(read(sessions('another-secret')));
    expect(history.status().restartNeeded).toEqual(['config.session.key']);
    expect(JSON.stringify(history.status())).not.toContain('-secret');
    history.accept(read(sessions('one-secret')));
    expect(history.status().restartNeeded).toEqual([]);
  });
});
