import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';

import type { Script } from './script.ts';
import type { Check } from './schema/build.ts';

export type Json = Readonly<Record<string, unknown>>;

/** One request to a simulated provider. */
export interface ProviderCall {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Empty where there is none. */
  readonly body: Json;
  readonly raw: Buffer;
  readonly response: ServerResponse;
  /** Remembers what no request of a right-minded client has: a test that sees one has failed. */
  fault(message: string): void;
}

/** How an API says that something went wrong. */
export interface Dialect {
  error(status: number, message: string): Json;
  /** Headers of errors beside their type. */
  readonly errorHeaders?: (status: number) => Readonly<Record<string, string>>;
}

/** What a chat is answered with. */
export interface Reply {
  readonly dialect: Dialect;
  readonly script: Script;
  readonly headers?: Readonly<Record<string, string>>;
  readonly whole: () => Json;
  /** Null when the request wants no stream. */
  readonly stream: {
    readonly type: string;
    readonly events: () => Iterable<Event>;
    readonly fault: () => string | Buffer;
  } | null;
}

export interface Event {
  readonly data: string | Buffer;
  /** It has a piece of the text, of a thought or of a call. */
  readonly piece?: boolean;
}

export function sendJson(
  call: ProviderCall,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  call.response.writeHead(status, { 'content-type': 'application/json', ...headers });
  call.response.end(JSON.stringify(body));
}

export function refuse(
  call: ProviderCall,
  dialect: Dialect,
  { status, message }: { status: number; message: string },
): void {
  sendJson(call, status, dialect.error(status, message), dialect.errorHeaders?.(status));
}

/** Refuses what the API does not take, and remembers it; true when it is fine. */
export function accepts(call: ProviderCall, dialect: Dialect, checks: readonly Check[]): boolean {
  for (const check of checks) {
    const wrong = check(call.body);
    if (wrong === null) continue;
    call.fault(`${call.method} ${call.path}: ${wrong} in ${call.raw.toString().slice(0, 2000)}`);
    refuse(call, dialect, { status: 400, message: wrong });
    return false;
  }
  return true;
}

/** Answers as the script says. */
export async function reply(call: ProviderCall, answer: Reply): Promise<void> {
  const { dialect, script, stream, headers = {} } = answer;
  const { fault } = script;
  const { response } = call;
  switch (fault?.kind) {
    case 'stall':
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html><body>Welcome to the captive portal</body></html>');
      return;
    case 'error':
      return sendJson(call, fault.status, dialect.error(fault.status, `simulated error ${fault.status}`), {
        ...dialect.errorHeaders?.(fault.status),
        ...fault.headers,
      });
    default:
  }
  if (stream !== null) return streamed(call, answer, stream);
  const body = Buffer.from(JSON.stringify(answer.whole()));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.byteLength, ...headers });
  if (fault?.kind === 'die') response.write(body.subarray(0, body.byteLength / 2), () => response.destroy());
  else if (fault?.kind === 'pause') response.write(body.subarray(0, body.byteLength / 2));
  else response.end(body);
}

async function streamed(
  call: ProviderCall,
  { script, headers = {} }: Reply,
  stream: NonNullable<Reply['stream']>,
): Promise<void> {
  const { response } = call;
  response.writeHead(200, { 'content-type': stream.type, 'cache-control': 'no-cache', ...headers });
  for (const { data, piece } of stream.events()) {
    if (response.destroyed) return;
    if (!response.write(data)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    await setImmediate();
    if (piece !== true || script.fault === null) continue;
    if (script.fault.kind === 'die') response.destroy();
    if (script.fault.kind === 'streamError') response.end(stream.fault());
    return;
  }
  response.end();
}

/** A server-sent event. */
export function sse(data: unknown, name?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`;
}

/** Arguments of a call in fragments, as services stream them. */
export function fragments(text: string): readonly string[] {
  return text.match(/[^]{1,5}/gu) ?? [];
}

// ── tolerant readers: what does not fit was refused before ──

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function object(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Texts of a content that is a text or a list of parts. */
export function contentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return objects(value)
    .map((part) => part['text'])
    .filter((each): each is string => typeof each === 'string')
    .join('\n');
}
