import type { ExplainQuestion, Explanation } from './explanation.ts';
import { isObject } from './lenient.ts';

const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_NAME = METHOD;
// A field value (RFC 9110 section 5.5): nothing that could end a line.
const FIELD_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;

/** A question as it came over the wire; a text says what is wrong with it. */
export function decodeQuestion(raw: unknown): ExplainQuestion | string {
  if (!isObject(raw)) return 'expected an object';
  const { method, scheme, authority, target, headers, body, version, port, source } = raw;
  if (typeof method !== 'string' || !METHOD.test(method)) return 'method: expected a token such as GET';
  if (scheme !== 'http' && scheme !== 'https') return 'scheme: expected http or https';
  if (typeof authority !== 'string' || /[\s/?#@]/.test(authority)) return 'authority: expected host[:port]';
  if (typeof target !== 'string' || !/^(\/[^\s#]*|\*)$/.test(target))
    return 'target: expected a path that starts with /';
  if (!isHeaders(headers)) return 'headers: expected a list of [name, value]';
  if (body !== undefined && typeof body !== 'string') return 'body: expected base64';
  if (version !== undefined && version !== 'HTTP/1.1' && version !== 'HTTP/2.0')
    return 'version: expected HTTP/1.1 or HTTP/2.0';
  if (port !== undefined && (typeof port !== 'number' || !Number.isInteger(port))) return 'port: expected a number';
  if (source !== undefined && typeof source !== 'string') return 'source: expected an address';
  return { method, scheme, authority, target, headers, body, version, port, source };
}

function isHeaders(value: unknown): value is ExplainQuestion['headers'] {
  return (
    Array.isArray(value) &&
    value.every(
      (pair: unknown) =>
        Array.isArray(pair) &&
        pair.length === 2 &&
        typeof pair[0] === 'string' &&
        FIELD_NAME.test(pair[0]) &&
        typeof pair[1] === 'string' &&
        FIELD_VALUE.test(pair[1]),
    )
  );
}

/** An answer of `/debug/explain`; undefined for anything else. */
export function decodeExplanation(raw: unknown): Explanation | undefined {
  if (!isObject(raw) || !isObject(raw['answer'])) return undefined;
  if (!Array.isArray(raw['policies']) || !Array.isArray(raw['rejectedRoutes']) || !Array.isArray(raw['events']))
    return undefined;
  // `as`: written by the same build's `/debug/explain`; the parts that are looked into were checked.
  return raw as unknown as Explanation;
}
