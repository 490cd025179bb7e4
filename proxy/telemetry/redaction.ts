import { REDACTED } from '../../src/shared/secret.ts';

const SENSITIVE_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
];

/** Query parameters that hold credentials; compared without case, `-` and `_`. */
const SENSITIVE_PARAMETERS = new Set([
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'authtoken',
  'token',
  'jwt',
  'apikey',
  'key',
  'sig',
  'signature',
  'secret',
  'clientsecret',
  'password',
  'passwd',
  'pwd',
  'credential',
  'authorization',
  'code',
  'xamzsignature',
  'xamzcredential',
  'xamzsecuritytoken',
  'xgoogsignature',
  'xgoogcredential',
  'sessionid',
]);

/** Hides credentials in what traces and logs show. */
export class Redaction {
  readonly #headers: ReadonlySet<string>;

  /** `sensitiveHeaders` are lower-case names beyond the well-known ones. */
  constructor(sensitiveHeaders: readonly string[]) {
    this.#headers = new Set([...SENSITIVE_HEADERS, ...sensitiveHeaders]);
  }

  /** Whether the values of a header or query parameter of this name are credentials. */
  isSensitive(name: string): boolean {
    return this.#headers.has(name.toLowerCase()) || isSensitive(name);
  }

  header(lowerCaseName: string, value: string): string {
    return this.#headers.has(lowerCaseName) ? REDACTED : value;
  }

  /** A request target or URI with the values of credential parameters replaced. */
  target(target: string): string {
    const query = target.indexOf('?');
    return query === -1 ? target : `${target.slice(0, query + 1)}${redactQuery(target.slice(query + 1))}`;
  }
}

function redactQuery(query: string): string {
  if (!query.includes('=')) return query;
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return equals > 0 && isSensitive(pair.slice(0, equals)) ? `${pair.slice(0, equals)}=${REDACTED}` : pair;
    })
    .join('&');
}

function isSensitive(name: string): boolean {
  let plain = name;
  if (name.includes('%')) {
    try {
      plain = decodeURIComponent(name);
    } catch {
      // A broken escape names nothing that a server would understand.
      return false;
    }
  }
  return SENSITIVE_PARAMETERS.has(plain.toLowerCase().replaceAll(/[-_]/g, ''));
}
