import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { ListenAddress } from '../ir/process.ts';
import { parsePort } from './host-target.ts';

/** Reads the address of a local server; a text says what is wrong. Port 0 lets the system choose. */
export function parseAddress(text: string, enableIpv6: boolean): ListenAddress | string {
  if (text === 'off') return { kind: 'off' };
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    return path.startsWith('/') ? { kind: 'unix', path } : 'expected an absolute path after `unix:`';
  }
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, Math.max(colon, 0));
  const port = colon === -1 ? undefined : parsePort(text.slice(colon + 1), 0);
  if (port === undefined) return 'expected `ip:port`, `localhost:port`, `unix:/path` or `off`';
  if (host === 'localhost') return { kind: 'tcp', hosts: enableIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1'], port };
  if (isIPv4(host)) return { kind: 'tcp', hosts: [host], port };
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : '';
  if (isIPv6(bare)) return { kind: 'tcp', hosts: [bare], port };
  return isIP(host) === 6
    ? `an IPv6 address stands in brackets: \`[${host}]:${port}\``
    : 'expected an IP address or `localhost` before the port';
}
