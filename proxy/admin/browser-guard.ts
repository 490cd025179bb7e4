import { isIP } from 'node:net';

/** What decides whether a request may be a trick of a web page that somebody has open. */
export interface BrowserHints {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  /** The gateway's end of the connection; undefined on a unix socket, where no browser comes from. */
  readonly localAddress: string | undefined;
}

/**
 * Why the request is refused, or null. A name that resolves to this machine (DNS rebinding) reaches the port with that
 * name in `Host`; addresses cannot be rebound, so the address that was really dialled is good.
 */
export function refusedHost(hints: BrowserHints, configured: readonly string[]): string | null {
  if (hints.localAddress === undefined || hints.host === undefined) return null;
  const name = hostName(hints.host);
  const allowed =
    isLoopbackName(name) ||
    configured.includes(name) ||
    (isIP(name) !== 0 && name === plainAddress(hints.localAddress));
  return allowed ? null : `host ${JSON.stringify(hints.host.slice(0, 200))} is not this admin interface`;
}

/** Why a request that changes something is refused, or null: only pages of this interface itself may send it. */
export function refusedSite(hints: BrowserHints): string | null {
  const { fetchSite, origin, host } = hints;
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') {
    return 'requests from other web sites are refused';
  }
  // Browsers without Sec-Fetch-Site still send Origin with anything but a plain GET.
  if (origin !== undefined && origin !== `http://${host ?? ''}`) return 'requests from other origins are refused';
  return null;
}

/** `Host` without port and brackets, lower case. */
function hostName(host: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(host);
  if (bracketed !== null) return (bracketed[1] ?? '').toLowerCase();
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
}

function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '::1' ||
    (isIP(name) === 4 && name.startsWith('127.'))
  );
}

function plainAddress(address: string): string {
  return address
    .replace(/^::ffff:/, '')
    .replace(/%.*$/, '')
    .toLowerCase();
}
