import type { HostTarget } from '../ir/backend.ts';
import { parseHostTarget } from './host-target.ts';

/** Where a policy service listens, and whether it is spoken to with TLS. */
export interface ServiceHost {
  readonly target: HostTarget;
  readonly tls: boolean;
}

/** Reads `host:port`, `unix:/path`, or `http(s)://host` with an optional port; a text says what is wrong. */
export function parseServiceHost(text: string): ServiceHost | string {
  const match = /^(https?):\/\/(.*)$/is.exec(text);
  const [, scheme = '', authority = ''] = match ?? [];
  if (match === null) return serviceHost(parseHostTarget(text), false);
  const tls = scheme.toLowerCase() === 'https';
  const host = authority.replace(/\/$/, '');
  if (/[/?#]/.test(host)) return 'expected an address without a path: the policy says which path is asked for';
  if (host.includes('@')) return 'expected an address without a user';
  const hasPort = /:\d*$/.test(host.slice(host.lastIndexOf(']') + 1));
  return serviceHost(parseHostTarget(hasPort ? host : `${host}:${tls ? 443 : 80}`), tls);
}

function serviceHost(target: HostTarget | string, tls: boolean): ServiceHost | string {
  return typeof target === 'string' ? target : { target, tls };
}
