import { unescape } from 'node:querystring';

import { credentialHeaders, isCredentialParameter } from '../../src/shared/credentials.ts';
import { REDACTED } from '../../src/shared/secret.ts';

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

/** Hides credentials in what traces and logs show. */
export class Redaction {
  readonly #headers: ReadonlySet<string>;

  /** `sensitiveHeaders` are lower-case names beyond the well-known ones. */
  constructor(sensitiveHeaders: readonly string[]) {
    this.#headers = new Set([...credentialHeaders, ...sensitiveHeaders]);
  }

  /** Whether the values of a header or query parameter of this name are credentials. */
  isSensitive(name: string): boolean {
    return this.#headers.has(name.toLowerCase()) || isCredentialParameter(name);
  }

  header(lowerCaseName: string, value: string): string {
    if (this.#headers.has(lowerCaseName)) return REDACTED;
    return ADDRESS_HEADERS.has(lowerCaseName) ? redactAddress(value) : value;
  }

  /** A request target or URI with the values of credential parameters replaced; `hidden` names more of them. */
  target(target: string, hidden: ReadonlySet<string> = NONE): string {
    const query = target.indexOf('?');
    return query === -1 ? target : `${target.slice(0, query + 1)}${redactQuery(target.slice(query + 1), hidden)}`;
  }
}

function redactAddress(value: string): string {
  return value.replaceAll(/([?&#;])([^=?&#;]+)=[^&#;\s"'<>]*/g, (pair: string, separator: string, name: string) =>
    isCredentialParameter(name) ? `${separator}${name}=${REDACTED}` : pair,
  );
}

const NONE: ReadonlySet<string> = new Set();

function redactQuery(query: string, hidden: ReadonlySet<string>): string {
  if (!query.includes('=')) return query;
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      if (equals <= 0) return pair;
      const name = pair.slice(0, equals);
      return isCredentialParameter(name) || (hidden.size > 0 && hidden.has(unescape(name)))
        ? `${name}=${REDACTED}`
        : pair;
    })
    .join('&');
}
