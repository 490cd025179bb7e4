/** Scheme, host and port of an origin. Hosts with characters that no browser sends are none. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9*._-]+)(?::([0-9]{1,5}))?$/;
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map([
  ['http', '80'],
  ['https', '443'],
]);

interface Origin {
  readonly scheme: string;
  readonly host: string;
  /** Empty for schemes without one. */
  readonly port: string;
}

interface Wildcard extends Omit<Origin, 'host'> {
  /** What stands between the wildcards of the host, in order; at least two. */
  readonly parts: readonly string[];
}

export type OriginMatch = (origin: string) => boolean;

/**
 * Whether the `Origin` of a request is one of a list: scheme and port are equal, hosts without case, and a `*` in a host
 * stands for any characters. Only a plain `*` allows `null`.
 */
export function originMatch(allowed: readonly string[]): OriginMatch {
  if (allowed.includes('*')) return () => true;
  const exact = new Set<string>();
  const wildcards: Wildcard[] = [];
  for (const text of allowed) {
    const origin = parseOrigin(text);
    if (origin === null) continue;
    if (origin.host.includes('*')) wildcards.push({ ...origin, parts: origin.host.split('*') });
    else exact.add(textOf(origin));
  }
  return (text) => {
    const origin = parseOrigin(text);
    if (origin === null || origin.host.includes('*')) return false;
    return exact.has(textOf(origin)) || wildcards.some((wildcard) => fits(origin, wildcard));
  };
}

function parseOrigin(text: string): Origin | null {
  const match = ORIGIN.exec(text.toLowerCase());
  if (match === null) return null;
  const [, scheme = '', host = '', port] = match;
  return { scheme, host, port: port ?? DEFAULT_PORTS.get(scheme) ?? '' };
}

function textOf({ scheme, host, port }: Origin): string {
  return `${scheme}://${host}:${port}`;
}

function fits(origin: Origin, { scheme, port, parts }: Wildcard): boolean {
  if (origin.scheme !== scheme || origin.port !== port) return false;
  const { host } = origin;
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!host.startsWith(first) || !host.endsWith(last)) return false;
  // Leftmost first is enough: what a later part could gain by waiting, an earlier match leaves it too.
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = host.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= host.length - last.length;
}
