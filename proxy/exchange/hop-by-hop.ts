import type { Headers } from './headers.ts';

/** Fields of one connection (RFC 9110 section 7.6.1); `proxy-authorization` passes. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** Whether a field of that lower-case name concerns one connection alone. */
export function isHopByHop(name: string): boolean {
  return HOP_BY_HOP.has(name);
}

/**
 * Removes what belongs to the client's connection: the hop-by-hop fields and those that `Connection` names.
 * `te: trailers` stays. Returns the protocol of a requested upgrade, or null.
 */
export function stripRequestHopByHop(headers: Headers): string | null {
  if (!hasHopByHop(headers)) return null;
  const options = connectionOptions(headers);
  const upgrade = options.includes('upgrade') ? protocolAsked(headers) : null;
  const trailers = acceptsTrailers(headers);
  removeAll(headers, options);
  if (trailers) headers.append('te', 'trailers');
  return upgrade;
}

/**
 * The protocols of `Upgrade` without HTTP/2: a client that reached it would send requests through the tunnel that no route
 * and no policy sees. RFC 9113 section 3.1 has withdrawn it, and a server may always ignore what it is asked for.
 */
function protocolAsked(headers: Headers): string | null {
  const asked = headers
    .getAll('upgrade')
    .flatMap((value) => value.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '' && !/^(?:h2c?|http)(?:\/|$)/i.test(protocol));
  return asked.length === 0 ? null : asked.join(', ');
}

/** The same for a response; returns the protocol that a 101 switches to. */
export function stripResponseHopByHop(headers: Headers): string | null {
  if (!hasHopByHop(headers)) return null;
  const upgrade = headers.get('upgrade') ?? null;
  removeAll(headers, connectionOptions(headers));
  return upgrade === '' ? null : upgrade;
}

/** Fields that frame, route or authorize a message have no business behind it (RFC 9110 section 6.5.1). */
const NO_TRAILERS: readonly string[] = [
  ...HOP_BY_HOP,
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'host',
  'expect',
  'max-forwards',
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
];

/** Removes from trailers what a recipient that merges them into the head would be misled by. */
export function stripTrailers(trailers: Headers): void {
  for (const name of NO_TRAILERS) trailers.remove(name);
}

/** What is left of a 1xx head for the client: it has no body, and the connection is the client's own. */
export function stripInterimHead(headers: Headers): void {
  stripResponseHopByHop(headers);
  headers.remove('content-length');
}

function hasHopByHop(headers: Headers): boolean {
  const { names } = headers;
  for (let i = 0; i < names.length; i++) if (HOP_BY_HOP.has(names[i] ?? '')) return true;
  return false;
}

/** The lower-case tokens of every `Connection` field. */
function connectionOptions(headers: Headers): readonly string[] {
  const value = headers.get('connection');
  if (value === undefined) return NONE;
  const first = value.toLowerCase();
  // What nearly every client sends; neither names a field that could be there.
  if (
    (first === 'keep-alive' || first === 'close') &&
    headers.names.indexOf('connection') === headers.names.lastIndexOf('connection')
  ) {
    return NONE;
  }
  return headers
    .getAll('connection')
    .flatMap((each) => each.toLowerCase().split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function acceptsTrailers(headers: Headers): boolean {
  const te = headers.get('te');
  if (te === undefined) return false;
  if (te === 'trailers') return true;
  return headers.getAll('te').some((value) => /(?:^|,)\s*trailers\s*(?:;|,|$)/i.test(value));
}

function removeAll(headers: Headers, options: readonly string[]): void {
  for (const name of HOP_BY_HOP) headers.remove(name);
  for (const name of options) headers.remove(name);
}

const NONE: readonly string[] = [];
