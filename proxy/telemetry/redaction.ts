import { unescape } from 'node:querystring';

import type { CredentialPlaces } from '../../src/config/credential-places.ts';
import { credentialHeaders, isCredentialParameter } from '../../src/shared/credentials.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { sessionDigest } from './session-digest.ts';

/** Headers that hold addresses, which may have credentials in their query or fragment. */
const ADDRESS_HEADERS = new Set([
  'location',
  'content-location',
  'referer',
  'refresh',
  'link',
  'x-original-url',
  'x-original-uri',
  'x-rewrite-url',
  'x-forwarded-uri',
]);

/** Of MCP: whoever has the id has the session. Shown as a digest, so that requests of one session are seen to be that. */
const SESSION_HEADER = 'mcp-session-id';

/** Hides credentials in what traces and logs show. */
export class Redaction {
  readonly #headers: Set<string>;
  readonly #parameters = new Set<string>();

  /** `sensitiveHeaders` are lower-case names beyond the well-known ones. */
  constructor(sensitiveHeaders: readonly string[]) {
    this.#headers = new Set([...credentialHeaders, SESSION_HEADER, ...sensitiveHeaders]);
  }

  /** Hides more places from now on. Those of an earlier configuration stay hidden: requests under way are still shown. */
  hide({ headers, parameters }: CredentialPlaces): this {
    for (const name of headers) this.#headers.add(name);
    for (const name of parameters) this.#parameters.add(name);
    return this;
  }

  /** Whether the values of a header or query parameter of this name are credentials. */
  isSensitive(name: string): boolean {
    return this.#headers.has(name.toLowerCase()) || this.#isParameter(name);
  }

  header(lowerCaseName: string, value: string): string {
    if (lowerCaseName === SESSION_HEADER) return sessionDigest(value);
    if (this.#headers.has(lowerCaseName)) return REDACTED;
    return ADDRESS_HEADERS.has(lowerCaseName) ? redactAddress(value, (each) => this.#isParameter(each)) : value;
  }

  /** A request target or URI with the values of credential parameters replaced; `hidden` names more of them. */
  target(target: string, hidden: ReadonlySet<string> = NONE): string {
    const query = target.indexOf('?');
    return query === -1
      ? target
      : `${target.slice(0, query + 1)}${redactQuery(target.slice(query + 1), (name) => this.#isParameter(name) || (hidden.size > 0 && hidden.has(unescape(name))))}`;
  }

  #isParameter(name: string): boolean {
    return isCredentialParameter(name) || (this.#parameters.size > 0 && this.#parameters.has(decoded(name)));
  }
}

/** As forms encode. */
function decoded(name: string): string {
  return unescape(name.replaceAll('+', ' '));
}

type IsCredential = (name: string) => boolean;

function redactAddress(value: string, isCredential: IsCredential): string {
  return value.replaceAll(/([?&#;])([^=?&#;]+)=[^&#;\s"'<>]*/g, (pair: string, separator: string, name: string) =>
    isCredential(name) ? `${separator}${name}=${REDACTED}` : pair,
  );
}

const NONE: ReadonlySet<string> = new Set();

function redactQuery(query: string, isCredential: IsCredential): string {
  if (!query.includes('=')) return query;
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      if (equals <= 0) return pair;
      const name = pair.slice(0, equals);
      return isCredential(name) ? `${name}=${REDACTED}` : pair;
    })
    .join('&');
}
