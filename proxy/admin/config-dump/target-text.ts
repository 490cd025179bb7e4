import type { HostTarget } from '../../../src/config/ir/index.ts';

/** `host:port` or `unix:/path`. */
export function targetText(target: HostTarget): string {
  if (target.kind === 'unix') return `unix:${target.path}`;
  return target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`;
}
