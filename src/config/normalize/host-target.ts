import { isIPv6 } from 'node:net';
import type { HostTarget } from '../ir/backend.ts';

const NAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?$/;
/** What the kernel takes for the path of a socket. */
const MAX_UNIX_PATH = 107;

/** Reads `host:port`, `[ipv6]:port` or `unix:/path`; a text says what is wrong. */
export function parseHostTarget(text: string): HostTarget | string {
  if (text.startsWith('unix:')) return unixTarget(text.slice('unix:'.length));
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return 'expected `host:port` without a scheme';
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(text);
  if (match === null) return 'expected `host:port`; an IPv6 address stands in brackets: `[::1]:8080`';
  const [, bracketed, name, portText] = match;
  if (portText === undefined) return 'the port is missing: expected `host:port`';
  const port = parsePort(portText);
  if (port === undefined)
    return `expected a port number from 1 to 65535 after the host, found ${JSON.stringify(portText.slice(0, 40))}`;
  if (bracketed !== undefined)
    return isIPv6(bracketed)
      ? { kind: 'tcp', host: bracketed.toLowerCase(), port }
      : 'expected an IPv6 address in the brackets';
  const host = (name ?? '').toLowerCase();
  return host.length <= 253 && NAME.test(host)
    ? { kind: 'tcp', host, port }
    : `expected a host name or an address, found ${JSON.stringify(host.slice(0, 60))}`;
}

function unixTarget(path: string): HostTarget | string {
  if (!path.startsWith('/')) return 'expected an absolute path after `unix:`';
  if (Buffer.byteLength(path) > MAX_UNIX_PATH) return `the path of a socket is at most ${MAX_UNIX_PATH} bytes`;
  return path.includes('\0') ? 'the path holds a NUL' : { kind: 'unix', path };
}

/** A port number from `min` up, or undefined. */
export function parsePort(text: string, min = 1): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port >= min && port <= 65_535 ? port : undefined;
}
