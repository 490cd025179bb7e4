import { readFile } from 'node:fs/promises';
import { fileError } from '../client/read-file.ts';
import { argsError, type CurlData, type CurlRequest } from './curl-args.ts';

export type HttpVersion = '1.1' | '2' | '2-prior-knowledge';

/** A request ready to be sent: files read, headers in order, method decided as curl decides it. */
export interface RequestPlan {
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | undefined;
  readonly httpVersion: HttpVersion | undefined;
  readonly tls: {
    readonly insecure: boolean;
    readonly ca: Buffer | undefined;
    readonly cert: Buffer | undefined;
    readonly key: Buffer | undefined;
    readonly passphrase: string | undefined;
  };
  readonly maxTimeMs: number | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly decompress: boolean;
}

/** `readStdin` is asked only for `@-` and `-T -`. */
export async function planRequest(request: CurlRequest, readStdin: () => Promise<Uint8Array>): Promise<RequestPlan> {
  const read = async (path: string): Promise<Uint8Array> => (path === '-' ? readStdin() : readBytes(path));
  const given = await headersOf(request, read);
  const asQuery = request.flags.has('get');
  const data = await dataOf(request.data, read);
  if (request.uploadFile !== undefined && data !== undefined) throw argsError('-T and -d cannot be used together');
  const upload = request.uploadFile === undefined ? undefined : await read(request.uploadFile);
  const body = upload ?? (asQuery ? undefined : data);
  const [cert, passphrase] = splitCert(request.values.get('cert'));
  const key = request.values.get('key') ?? cert;
  const ca = request.values.get('cacert');
  return {
    url: asQuery && data !== undefined ? withQuery(request.url, data) : request.url,
    method: methodOf(request, { upload: upload !== undefined, data: body !== undefined }),
    headers: mergeHeaders(defaultHeaders(request, body), given),
    body,
    httpVersion: versionOf(request),
    tls: {
      insecure: request.flags.has('insecure'),
      ca: ca === undefined ? undefined : await readBytes(ca),
      cert: cert === undefined ? undefined : await readBytes(cert),
      key: key === undefined ? undefined : await readBytes(key),
      passphrase,
    },
    maxTimeMs: secondsOf(request, 'max-time'),
    connectTimeoutMs: secondsOf(request, 'connect-timeout'),
    decompress: request.flags.has('compressed'),
  };
}

async function readBytes(path: string): Promise<Buffer> {
  return readFile(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
}

function methodOf(request: CurlRequest, has: { readonly upload: boolean; readonly data: boolean }): string {
  if (request.method !== undefined) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(request.method)) throw argsError(`"${request.method}" is not a method`);
    return request.method;
  }
  if (request.flags.has('head')) return 'HEAD';
  if (has.upload) return 'PUT';
  return has.data ? 'POST' : 'GET';
}

/** Pieces of data are joined by `&`, those of `--json` by nothing. */
async function dataOf(
  pieces: readonly CurlData[],
  read: (path: string) => Promise<Uint8Array>,
): Promise<Buffer | undefined> {
  let joined: Buffer | undefined;
  for (const piece of pieces) {
    const bytes = await pieceOf(piece, read);
    const separator = piece.kind === 'json' ? '' : '&';
    joined = joined === undefined ? bytes : Buffer.concat([joined, Buffer.from(separator), bytes]);
  }
  return joined;
}

async function pieceOf({ kind, value }: CurlData, read: (path: string) => Promise<Uint8Array>): Promise<Buffer> {
  if (kind === 'data-urlencode') return urlEncoded(value, read);
  if (kind === 'data-raw' || !value.startsWith('@')) return Buffer.from(value);
  const bytes = Buffer.from(await read(value.slice(1)));
  // curl drops line ends and NULs of a file given with -d, and keeps them with the others.
  return kind === 'data' ? Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d && byte !== 0)) : bytes;
}

/** `content`, `=content`, `name=content`, `@file` or `name@file`. */
async function urlEncoded(value: string, read: (path: string) => Promise<Uint8Array>): Promise<Buffer> {
  const match = /^([^=@]*)([=@])(.*)$/s.exec(value);
  if (match === null) return Buffer.from(encodeURIComponent(value));
  const [, name = '', sign, content = ''] = match;
  const text = sign === '@' ? Buffer.from(await read(content)).toString('utf8') : content;
  return Buffer.from(`${name === '' ? '' : `${name}=`}${encodeURIComponent(text)}`);
}

function withQuery(url: URL, data: Buffer): URL {
  const copy = new URL(url);
  copy.search = copy.search === '' ? `?${data.toString('utf8')}` : `${copy.search}&${data.toString('utf8')}`;
  return copy;
}

type Header = readonly [name: string, value: string];
/** A header to leave out has no value. */
type GivenHeader = readonly [name: string, value: string | undefined];

async function headersOf(request: CurlRequest, read: (path: string) => Promise<Uint8Array>): Promise<GivenHeader[]> {
  const given: GivenHeader[] = [];
  for (const line of request.headers) {
    const lines = line.startsWith('@')
      ? Buffer.from(await read(line.slice(1)))
          .toString('utf8')
          .split(/\r?\n/)
      : [line];
    given.push(...lines.filter((each) => each.trim() !== '').map(parseHeader));
  }
  return given;
}

function parseHeader(line: string): GivenHeader {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?::\s*(.*)|;\s*)$/s.exec(line);
  const [, name, value] = match ?? [];
  if (match === null || name === undefined) throw argsError(`"${line}" is not a header: expected "Name: value"`);
  if (/[\r\n\0]/.test(value ?? '')) throw argsError(`the header ${name} holds a line break`);
  if (value === undefined) return [name, ''];
  return [name, value === '' ? undefined : value];
}

function defaultHeaders(request: CurlRequest, body: Uint8Array | undefined): Header[] {
  const { values, flags, data, url } = request;
  const json = data.some((piece) => piece.kind === 'json');
  const user =
    values.get('user') ??
    (url.username === '' ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`);
  const bearer = values.get('oauth2-bearer');
  const cookie = values.get('cookie');
  if (cookie !== undefined && !cookie.includes('='))
    throw argsError('-b takes cookies ("name=value"); a cookie file is not understood');
  const referer = values.get('referer')?.replace(/;auto$/, '');
  const all: (Header | undefined)[] = [
    ['Host', url.host],
    user === undefined ? undefined : ['Authorization', `Basic ${Buffer.from(user).toString('base64')}`],
    bearer === undefined ? undefined : ['Authorization', `Bearer ${bearer}`],
    ['User-Agent', values.get('user-agent') ?? 'gwctl'],
    ['Accept', json ? 'application/json' : '*/*'],
    flags.has('compressed') ? ['Accept-Encoding', 'gzip, deflate, br'] : undefined,
    referer === undefined || referer === '' ? undefined : ['Referer', referer],
    cookie === undefined ? undefined : ['Cookie', cookie],
    contentType(request, body, json),
  ];
  return all.filter((header) => header !== undefined);
}

function contentType(request: CurlRequest, body: Uint8Array | undefined, json: boolean): Header | undefined {
  if (body === undefined || request.uploadFile !== undefined) return undefined;
  return ['Content-Type', json ? 'application/json' : 'application/x-www-form-urlencoded'];
}

/** What was typed replaces a default of the same name; typed headers may repeat. */
function mergeHeaders(defaults: readonly Header[], given: readonly GivenHeader[]): readonly Header[] {
  const typed = new Set(given.map(([name]) => name.toLowerCase()));
  return [
    ...defaults.filter(([name]) => !typed.has(name.toLowerCase())),
    ...given.flatMap(([name, value]): Header[] => (value === undefined ? [] : [[name, value]])),
  ];
}

function versionOf({ flags, url }: CurlRequest): HttpVersion | undefined {
  if (flags.has('http2-prior-knowledge')) return '2-prior-knowledge';
  if (flags.has('http2') && url.protocol === 'http:') {
    throw argsError('--http2 needs an https URL; --http2-prior-knowledge speaks HTTP/2 without TLS');
  }
  if (flags.has('http2')) return '2';
  return flags.has('http1.1') ? '1.1' : undefined;
}

function secondsOf(request: CurlRequest, name: 'max-time' | 'connect-timeout'): number | undefined {
  const text = request.values.get(name);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!(seconds > 0)) throw argsError(`--${name} takes seconds, not "${text}"`);
  return seconds * 1000;
}

/** `file` or `file:passphrase`. */
function splitCert(text: string | undefined): readonly [string | undefined, string | undefined] {
  const match = /^((?:[A-Za-z]:[\\/])?[^:]+):(.*)$/s.exec(text ?? '');
  return match === null ? [text, undefined] : [match[1], match[2]];
}
