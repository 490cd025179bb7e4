import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { loadConfig, seal, unseal } from '../../src/config/index.ts';
import { Secret } from '../../src/shared/secret.ts';

describe('handing a configuration to a worker thread', () => {
  test('what comes out of a clone is what went in, secrets and bytes included', async () => {
    const directory = fileURLToPath(new URL('../golden/config/', import.meta.url));
    const text = `${readFileSync(`${directory}tls.yaml`, 'utf8')}\nrouteGroups:\n- {name: g, routes: [{policies: {directResponse: {status: 200, body: [0, 255]}}}]}\n`;
    const { config } = await loadConfig({ kind: 'text', text, name: 't' }, { env: {}, directory });
    const arrived = unseal(structuredClone(seal(config)));
    expect(arrived).toEqual(config);
    const protocol = arrived.binds[0]?.listeners[0]?.protocol;
    const key = protocol?.kind === 'HTTPS' ? protocol.tls.key.pem : undefined;
    expect(key).toBeInstanceOf(Secret);
    expect(key?.reveal()).toContain('PRIVATE KEY');
    const [answer] = arrived.routeGroups[0]?.routes[0]?.policies.directResponse?.entries ?? [];
    expect(answer?.settings.body).toEqual({ kind: 'bytes', bytes: Uint8Array.of(0, 255) });
  });

  test('a configuration with secrets prints without them, sealed or not cloned', async () => {
    const directory = fileURLToPath(new URL('../golden/config/', import.meta.url));
    const { config } = await loadConfig({ kind: 'file', path: `${directory}tls.yaml` }, { env: {} });
    expect(JSON.stringify(config)).not.toContain('PRIVATE KEY');
  });
});
