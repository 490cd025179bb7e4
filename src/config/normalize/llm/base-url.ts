import type { HostTarget } from '../../ir/backend.ts';
import { parseHostTarget } from '../host-target.ts';

/** An address of a provider, taken apart. */
export interface BaseUrl {
  readonly target: HostTarget;
  readonly tls: boolean;
  /** Without its last `/`; undefined for the root. */
  readonly prefix: string | undefined;
}

/** Reads `http(s)://host:port/path`; a text says what is wrong. */
export function parseBaseUrl(text: string): BaseUrl | string {
  if (!URL.canParse(text)) return 'expected an address such as https://api.example.com/v1';
  const url = new URL(text);
  const { protocol, username, password, search, hash, pathname, port } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return 'expected an address that starts with http:// or https://';
  if (username !== '' || password !== '') return 'expected an address without a user: use `apiKey` or `auth`';
  if (search !== '' || text.includes('?')) return 'expected an address without a query';
  if (hash !== '' || text.includes('#')) return 'expected an address without a fragment';
  const tls = protocol === 'https:';
  const target = parseHostTarget(`${url.hostname}:${port === '' ? (tls ? 443 : 80) : port}`);
  if (typeof target === 'string') return target;
  const prefix = pathname.replace(/\/+$/, '');
  return { target, tls, prefix: prefix === '' ? undefined : prefix };
}
