import { REDACTED, Secret } from './secret.ts';

/** Headers whose values are credentials, lower case. */
export const credentialHeaders: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
];

/** Query parameters that hold credentials; compared without case, `-` and `_`. */
const CREDENTIAL_PARAMETERS = new Set([
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

/** Whether the values of a query parameter of this name, percent-encoded or not, are credentials. */
export function isCredentialParameter(name: string): boolean {
  let plain = name;
  if (name.includes('%')) {
    try {
      plain = decodeURIComponent(name);
    } catch {
      // A broken escape names nothing that a server would understand.
      return false;
    }
  }
  return CREDENTIAL_PARAMETERS.has(plain.toLowerCase().replaceAll(/[-_]/g, ''));
}

/** Whether configuration under this name says what to write into a header or to compare one with. */
export function isHeaderModifier(key: string): boolean {
  return MODIFIERS.has(key);
}

const MODIFIERS: ReadonlySet<string> = new Set([
  'requestHeaderModifier',
  'responseHeaderModifier',
  'requestHeaders',
  'responseHeaders',
]);

/**
 * A configuration, or part of one, as it may be shown: header modifiers and matches are plain settings, but the values that
 * they hold for names that `isSensitive` knows are credentials. `key` is the one that the value stands under.
 */
export function hideCredentials(value: unknown, isSensitive: (name: string) => boolean, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => hideCredentials(item, isSensitive));
  if (value instanceof Secret) return REDACTED;
  if (!isMap(value)) return value;
  const named = typeof value['name'] === 'string' && isSensitive(value['name']);
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => {
      if (named && name === 'value') return [name, hideAll(child)];
      const headers = isHeaderModifier(key) && (name === 'add' || name === 'set');
      return [name, headers ? hideHeaders(child, isSensitive) : hideCredentials(child, isSensitive, name)];
    }),
  );
}

/** A map of headers, a list of pairs, or a list of names with values. */
function hideHeaders(headers: unknown, isSensitive: (name: string) => boolean): unknown {
  if (Array.isArray(headers)) {
    return headers.map((header) => {
      const pair = Array.isArray(header) && typeof header[0] === 'string';
      if (!pair) return hideCredentials(header, isSensitive);
      return isSensitive(header[0]) ? [header[0], REDACTED] : header;
    });
  }
  if (!isMap(headers)) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSensitive(name) ? REDACTED : value]),
  );
}

/** Keeps the kind of a match: `{exact: <redacted>}`. */
function hideAll(value: unknown): unknown {
  return isMap(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED])) : REDACTED;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
