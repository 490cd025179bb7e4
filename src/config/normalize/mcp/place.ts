import { isIPv6 } from 'node:net';
import type { HostTarget } from '../../ir/backend.ts';
import { parseHostTarget } from '../host-target.ts';

/** Where a server listens. */
export interface McpAddress {
  readonly target: HostTarget;
  readonly tls: boolean;
  /** With its query; undefined where the address names none. */
  readonly path: string | undefined;
}

/** What a file says of it; values of any type, as the schema may not have looked at them yet. */
interface Written {
  readonly host: string;
  readonly port: number | undefined;
  readonly path: string | undefined;
}

/** Reads a host name with its port and path, or an address that has them all; a text says what is wrong. */
export function parseMcpAddress({ host, port, path }: Written): McpAddress | string {
  if (port === undefined || path === undefined) return wholeAddress(host);
  if (host.includes('://')) return 'next to `port` and `path`, expected a host name or an address without a scheme';
  const target = parseHostTarget(`${isIPv6(host) ? `[${host}]` : host}:${port}`);
  return typeof target === 'string' ? target : { target, tls: false, path };
}

function wholeAddress(text: string): McpAddress | string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return bareAddress(text);
  if (!URL.canParse(text)) return 'expected an address such as http://localhost:8080/mcp';
  const { protocol, username, password, hash, hostname, port, pathname, search } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'expected an address that starts with http:// or https://';
  if (username !== '' || password !== '')
    return 'expected an address without a user: `policies.backendAuth` shows credentials';
  if (hash !== '' || text.includes('#')) return 'expected an address without a fragment';
  const tls = protocol === 'https:';
  const target = parseHostTarget(`${hostname}:${port === '' ? (tls ? 443 : 80) : port}`);
  if (typeof target === 'string') return target;
  const named = /^[^:]+:\/\/[^/?]*[/?]/.test(text);
  return { target, tls, path: named ? pathname + search : undefined };
}

/** Without what may be a credential. */
function shownHost(text: string): string {
  const [host = ''] = text.split('?', 1);
  return host.slice(host.lastIndexOf('@') + 1).slice(0, 200);
}

/** `host:port` and `unix:/path`, as everywhere else. */
function bareAddress(text: string): McpAddress | string {
  if (!text.startsWith('unix:') && text.includes('/'))
    return `expected an address that starts with http:// or https://, such as http://${shownHost(text)}`;
  const target = parseHostTarget(text);
  return typeof target === 'string' ? target : { target, tls: false, path: undefined };
}
