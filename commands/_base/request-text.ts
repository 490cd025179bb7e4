import type { ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import type { JsonObject, JsonValue } from '../../proxy/exchange/attributes.ts';
import { usageError } from './usage-error.ts';

/** A request that a file describes: a JSON object, or the text of an HTTP message. */
export function parseRequestText(text: string, name: string): ExplainQuestion {
  return text.trimStart().startsWith('{') ? fromJson(text, name) : fromMessage(text, name);
}

/** Variables by name, from a JSON object that is given itself or in a file. */
export async function variablesOf(given: string, read: (path: string) => Promise<string>): Promise<JsonObject> {
  if (given.trimStart().startsWith('{')) return objectOf(given, '--vars');
  return objectOf(await read(given), inputName(given));
}

/** What messages call an input. */
export function inputName(path: string): string {
  return path === '-' ? 'stdin' : path;
}

const EXAMPLE =
  'a request is `GET /path HTTP/1.1` with header lines below it, or {"method": "GET", "url": "http://host/path", "headers": {}}';

function wrong(name: string, what: string): Error {
  return usageError(`${name} is no request: ${what}`, EXAMPLE);
}

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\S+)(?: HTTP\/([\d.]+))?$/;

/** Line ends may be those of any system. */
function fromMessage(text: string, name: string): ExplainQuestion {
  const blank = /\r?\n\r?\n/.exec(text);
  const head = blank === null ? text : text.slice(0, blank.index);
  const body = blank === null ? '' : text.slice(blank.index + blank[0].length);
  const [first = '', ...lines] = head.split(/\r?\n/);
  const start = REQUEST_LINE.exec(first.trim());
  if (start === null) throw wrong(name, 'the first line is no request line');
  const headers = lines.filter((line) => line !== '').map((line) => headerOf(line, name));
  return {
    method: start[1] ?? 'GET',
    ...placeOf(start[2] ?? '/', headers),
    headers: headers.filter(([header]) => header.toLowerCase() !== 'host'),
    body: body === '' ? undefined : Buffer.from(body).toString('base64'),
    version: start[3]?.startsWith('2') === true ? 'HTTP/2.0' : 'HTTP/1.1',
  };
}

function headerOf(line: string, name: string): readonly [string, string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw wrong(name, `${JSON.stringify(line.slice(0, 60))} is no header line`);
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

type Place = Pick<ExplainQuestion, 'scheme' | 'authority' | 'target'>;

/** A whole URL tells the host itself; otherwise `Host` does. */
function placeOf(target: string, headers: readonly (readonly [string, string])[]): Place {
  const whole = /^(https?):\/\/([^/?#]*)([^#]*)/i.exec(target);
  if (whole === null) {
    const host = headers.find(([header]) => header.toLowerCase() === 'host')?.[1];
    return { scheme: 'http', authority: host ?? 'localhost', target };
  }
  const [, scheme = '', authority = '', rest = ''] = whole;
  return {
    scheme: scheme.toLowerCase() === 'https' ? 'https' : 'http',
    authority,
    target: rest.startsWith('/') ? rest : `/${rest}`,
  };
}

function fromJson(text: string, name: string): ExplainQuestion {
  const { method = 'GET', url, headers, body, version, ...others } = objectOf(text, name);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(name, `${unknown} is none of method, url, headers, body, version`);
  if (typeof method !== 'string' || typeof url !== 'string') throw wrong(name, '`method` and `url` are texts');
  const pairs = headerPairs(headers ?? {}, name);
  return {
    method,
    ...placeOf(url, pairs),
    headers: pairs.filter(([header]) => header.toLowerCase() !== 'host'),
    body:
      body === undefined
        ? undefined
        : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)).toString('base64'),
    version: typeof version === 'string' && version.startsWith('HTTP/2') ? 'HTTP/2.0' : 'HTTP/1.1',
  };
}

/** The object that a JSON text holds. */
export function objectOf(text: string, name: string): JsonObject {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue; // what JSON.parse gives without a reviver
  } catch (error) {
    throw usageError(`${name} is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (isObject(value)) return value;
  throw usageError(`${name} holds no JSON object`);
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function headerPairs(headers: JsonValue, name: string): readonly (readonly [string, string])[] {
  if (!isObject(headers)) throw wrong(name, '`headers` is no object');
  return Object.entries(headers).flatMap(([header, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: JsonValue): readonly [string, string] => {
      if (typeof one !== 'string') throw wrong(name, `the header ${header} is no text and no list of texts`);
      return [header, one];
    }),
  );
}
