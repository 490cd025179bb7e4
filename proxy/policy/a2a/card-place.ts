import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf } from '../../exchange/message.ts';
import { normalPrefix } from '../../routing/bucket.ts';

/** How addresses of an agent become the gateway's. Paths have no slash at their end. */
export interface CardPlace {
  /** `https://gateway.example` */
  readonly origin: string;
  /** Path of the agent as clients of the gateway know it. */
  readonly publicPath: string;
  /** Path of the agent as it knows it itself. */
  readonly agentPath: string;
  /** Where the route puts another prefix in place of the one it matches; null where it does not. */
  readonly prefix: { readonly matched: string; readonly sent: string } | null;
}

const SUFFIX = /\/\.well-known\/agent(?:-card)?\.json$/;

/** Null when the request asks for no card. To be asked before the backend's own policies are done with the request. */
export function cardPlaceOf(exchange: Exchange): CardPlace | null {
  const { request, clientTarget, matchedPath } = exchange;
  if (request.method !== 'GET') return null;
  const sent = pathOf(request.target);
  if (!SUFFIX.test(sent)) return null;
  const asked = pathOf(clientTarget);
  return {
    origin: originOf(exchange),
    publicPath: SUFFIX.test(asked) ? asked.replace(SUFFIX, '') : '',
    agentPath: sent.replace(SUFFIX, ''),
    prefix: matchedPath?.kind === 'pathPrefix' ? replaced(normalPrefix(matchedPath.value), asked, sent) : null,
  };
}

/** For a card that a call gives: what both paths end with is the agent's own, the rest is where it stands. */
export function callPlaceOf(exchange: Exchange): CardPlace {
  const asked = segments(exchange.clientTarget);
  const sent = segments(exchange.request.target);
  while (asked.length > 0 && sent.length > 0 && asked.at(-1) === sent.at(-1)) {
    asked.pop();
    sent.pop();
  }
  const path = (parts: readonly string[]): string => parts.map((part) => `/${part}`).join('');
  return { origin: originOf(exchange), publicPath: path(asked), agentPath: path(sent), prefix: null };
}

function segments(target: string): string[] {
  return pathOf(target)
    .split('/')
    .filter((part) => part !== '');
}

function originOf({ request, clientAuthority }: Exchange): string {
  return `${schemeOf(request.headers.get('x-forwarded-proto')) ?? request.scheme}://${clientAuthority}`;
}

/** The first proxy before this one knows what the client used. */
function schemeOf(forwarded: string | undefined): string | null {
  const [first = ''] = (forwarded ?? '').split(',');
  const scheme = first.trim().toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : null;
}

/** What stands in place of the matched prefix. */
function replaced(matched: string, asked: string, sent: string): CardPlace['prefix'] {
  const rest = asked.slice(matched.length);
  if (!asked.startsWith(matched) || rest === '' || !sent.endsWith(rest)) return null;
  const prefix = sent.slice(0, -rest.length);
  return prefix === matched ? null : { matched, sent: prefix };
}

/** The address at the gateway that leads to an address of the agent; null for what is no address of HTTP. */
export function anchored(url: string, place: CardPlace): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return null;
  const { origin, publicPath, prefix, agentPath } = place;
  // As written: parsing puts a slash where there was none.
  const bare = parsed.pathname === '/' && !/^[^/]*\/\/[^/?#]*\//.test(url);
  const path = bare ? '' : parsed.pathname;
  const after = `${parsed.search}${parsed.hash}`;
  const underPrefix = prefix === null ? null : below(path, prefix.sent);
  if (prefix !== null && underPrefix !== null) return `${origin}${prefix.matched}${underPrefix}${after}`;
  return `${origin}${publicPath}${below(path, agentPath) ?? path}${after}`;
}

/** What is left of a path below another, with its slash; null when it is not below. */
function below(path: string, above: string): string | null {
  if (path.startsWith(above)) {
    const rest = path.slice(above.length);
    return rest === '' || rest.startsWith('/') ? rest : null;
  }
  if (!path.includes('%') && !above.includes('%')) return null;
  const parts = path.split('/');
  const wanted = above.split('/');
  if (!wanted.every((part, at) => normal(parts[at] ?? '') === normal(part)) || parts.length < wanted.length)
    return null;
  return parts
    .slice(wanted.length)
    .map((part) => `/${part}`)
    .join('');
}

/** Agents encode more or less of their path than the gateway does (RFC 3986 section 6.2.2). */
function normal(segment: string): string {
  return segment.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}
