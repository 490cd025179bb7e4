import { createHash, createHmac } from 'node:crypto';
import { unescape } from 'node:querystring';

import { type HttpRequest, pathOf, queryOf } from '../../../exchange/message.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

export interface SigningScope {
  readonly region: string;
  /** Signing name of the service. */
  readonly service: string;
}

/** What is signed; `authority` is the `host` that is sent. */
export interface SignedParts {
  readonly method: string;
  readonly authority: string;
  readonly target: string;
  readonly headers: HttpRequest['headers'];
  /** SHA-256 of the body, hexadecimal. */
  readonly bodyHash: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Headers that signatures bring, lower case: what the client sent under these names is replaced. */
export const SIGNATURE_HEADERS: readonly string[] = [
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
];

/** Signs a request with AWS Signature Version 4, in place. `at` is the time of signing. */
export function signV4(
  parts: SignedParts,
  keys: AwsKeys,
  { scope, at }: { readonly scope: SigningScope; readonly at: Date },
): void {
  const { headers, bodyHash } = parts;
  for (const name of SIGNATURE_HEADERS) headers.remove(name);
  const timestamp = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  headers.set('x-amz-date', timestamp);
  if (keys.sessionToken !== null) headers.set('x-amz-security-token', keys.sessionToken);
  // The one service that wants to be told the hash, and that takes paths as they are.
  const isS3 = scope.service === 's3';
  if (isS3) headers.set('x-amz-content-sha256', bodyHash);
  const signed = signedHeaders(parts);
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    parts.method,
    isS3 ? pathOf(parts.target) || '/' : canonicalPath(pathOf(parts.target)),
    canonicalQuery(queryOf(parts.target).slice(1)),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n');
  const date = timestamp.slice(0, 8);
  const credentialScope = `${date}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = [ALGORITHM, timestamp, credentialScope, sha256(canonical)].join('\n');
  const signature = hmac(signingKey(keys.secretAccessKey, date, scope), toSign).toString('hex');
  headers.set(
    'authorization',
    `${ALGORITHM} Credential=${keys.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`,
  );
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Few headers, since proxies on the way change others; load balancers write a trace id of their own. */
function isSigned(name: string): boolean {
  if (name === 'x-amzn-trace-id') return false;
  return name === 'content-type' || name === 'date' || name.startsWith('x-amz-') || name.startsWith('x-amzn-');
}

/** Sorted by name, several values as one. */
function signedHeaders({ authority, headers }: SignedParts): [name: string, value: string][] {
  const values = new Map<string, string>([['host', authority]]);
  for (const [name, value] of headers) {
    if (!isSigned(name)) continue;
    const folded = value.trim().replaceAll(/\s+/g, ' ');
    const known = values.get(name);
    values.set(name, known === undefined ? folded : `${known},${folded}`);
  }
  return [...values].sort(([left], [right]) => (left < right ? -1 : 1));
}

/** Without empty and dot segments, and encoded once more than it is sent. */
function canonicalPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(encode(segment));
  }
  return kept.length === 0 ? '/' : `/${kept.join('/')}${path.endsWith('/') ? '/' : ''}`;
}

/** Parameters decoded, encoded in the one way that counts, and sorted. */
function canonicalQuery(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [encode(decode(name)), encode(decode(value))] as const;
    })
    .sort(([name, value], [otherName, otherValue]) => compare(name, otherName) || compare(value, otherValue))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function compare(left: string, right: string): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function decode(text: string): string {
  return unescape(text.replaceAll('+', ' '));
}

/** RFC 3986: everything but unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function signingKey(secret: string, date: string, { region, service }: SigningScope): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), service), 'aws4_request');
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}
