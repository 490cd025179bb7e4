import { GwError, exitCodes } from '../../shared/errors.ts';

/** Where an admin interface listens. `host` has no brackets. */
export type AdminAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export const defaultAdminPort = 15000;

/** Reads `host`, `host:port`, `[::1]:port`, `http://host:port` or `unix:/path`; throws `GW_BAD_ADDRESS` for anything else. */
export function parseAdminAddress(text: string, defaultPort: number = defaultAdminPort): AdminAddress {
  if (text.startsWith('unix:')) return parseUnix(text);
  const bare = text.replace(/^http:\/\//, '').replace(/\/$/, '');
  const match =
    /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:/[\]@]+)|([0-9a-fA-F]*:[0-9a-fA-F:]+:[0-9a-fA-F.]*))(?::(\d{1,5}))?$/.exec(bare);
  const host = match?.[1] ?? match?.[2] ?? match?.[3];
  const port = match?.[4] === undefined ? defaultPort : Number(match[4]);
  if (host === undefined || port < 1 || port > 65_535) throw badAddress(text);
  return { kind: 'tcp', host, port };
}

function parseUnix(text: string): AdminAddress {
  const path = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw badAddress(text);
  return { kind: 'unix', path };
}

function badAddress(text: string): GwError {
  return new GwError(`"${text}" is not an address: expected host:port or unix:/path`, {
    code: 'GW_BAD_ADDRESS',
    exitCode: exitCodes.usage,
    hint: 'gwctl proxy config all --address 127.0.0.1:15000',
  });
}

export function formatAddress(address: AdminAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return `${hostInUrl(address.host)}:${address.port}`;
}

/** An IPv6 address in brackets, anything else as it is. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
