import { randomBytes } from 'node:crypto';

import type { ProcessConfig } from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { LogFilter } from '../../src/shared/log.ts';

/** The engine's own data plane, beside this file's build. */
export function engineModule(): URL {
  const name = import.meta.url.endsWith('.ts') ? '../engine/data-plane.ts' : '../engine/data-plane.js';
  return new URL(name, import.meta.url);
}

/** The log filter that the configuration asks for; throws when it is not understood. */
export function initialFilter(config: ProcessConfig): LogFilter {
  const filter = LogFilter.parse(config.logging.level);
  if (typeof filter !== 'string') return filter;
  throw new GwError(`config.logging.level: ${filter}`, {
    code: 'GW_CONFIG_VALUE',
    hint: 'for example: info,request=off',
  });
}

/** Random bytes that every thread sees. */
export function sharedRandom(bytes: number): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytes);
  new Uint8Array(shared).set(randomBytes(bytes));
  return shared;
}
