import type { RequestState, TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { stateOf } from './detail.ts';
import { factsOf } from './request.ts';
import { durationUs } from './timing.ts';

type Headers = Readonly<Record<string, string | readonly string[]>>;
type Pair = { readonly name: string; readonly value: string };

/* These belong to one connection or are worked out by curl itself. */
const LEFT_OUT = new Set([
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'keep-alive',
  'te',
  'upgrade',
  'proxy-connection',
]);

/** One event per line, as they came; can be opened again. */
export function toJsonLines(events: readonly TraceEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/** A HAR 1.2 log of requests, each given as its events. */
export function toHar(requests: readonly (readonly TraceEvent[])[]): string {
  const entries = requests.filter((events) => requestOf(events) !== undefined).map(harEntry);
  const log = { version: '1.2', creator: { name: 'gwctl', version: '1' }, entries };
  return `${JSON.stringify({ log }, undefined, 2)}\n`;
}

/** The request as a curl command for a shell; undefined when its first snapshot has not been seen. */
export function toCurl(events: readonly TraceEvent[]): string | undefined {
  const request = requestOf(events);
  if (request === undefined) return undefined;
  const parts = ['curl'];
  if (request.method !== undefined && request.method !== 'GET') parts.push('-X', quote(request.method));
  const pairs = pairsOf(request.headers).filter(
    ({ name }) => !LEFT_OUT.has(name.toLowerCase()) && !name.startsWith(':'),
  );
  for (const { name, value } of pairs.filter((pair) => pair.value !== REDACTED))
    parts.push('-H', quote(`${name}: ${value}`));
  const body = requestBody(events, request);
  if (body !== undefined) parts.push('--data-binary', quote(body));
  parts.push(quote(urlOf(request)));
  const hidden = pairs.filter((pair) => pair.value === REDACTED).map((pair) => pair.name);
  const note =
    hidden.length === 0 ? '' : `# not recorded, add them yourself: ${hidden.join(', ').replaceAll(/[\r\n]/g, ' ')}\n`;
  return `${note}${parts.join(' ')}\n`;
}

function harEntry(events: readonly TraceEvent[]): object {
  const facts = factsOf(events);
  const request = requestOf(events) ?? {};
  const response = lastState(events, 'responseSnapshot')?.response ?? {};
  const totalMs = facts.totalUs / 1000;
  const waitMs =
    events.reduce(
      (sum, event) => sum + (event.message.type === 'backendCallResult' ? (durationUs(event) ?? 0) : 0),
      0,
    ) / 1000;
  const body = requestBody(events, request);
  return {
    startedDateTime: facts.startTime ?? new Date(0).toISOString(),
    time: totalMs,
    request: {
      method: request.method ?? 'GET',
      url: urlOf(request),
      httpVersion: request.version ?? 'HTTP/1.1',
      cookies: [],
      headers: pairsOf(request.headers),
      queryString: queryOf(urlOf(request)),
      ...(body !== undefined && { postData: { mimeType: headerOf(request.headers, 'content-type'), text: body } }),
      headersSize: -1,
      bodySize: body === undefined ? 0 : Buffer.byteLength(body),
    },
    response: harResponse(events, response, facts.status ?? 0),
    cache: {},
    timings: { send: 0, wait: Math.min(waitMs, totalMs), receive: Math.max(0, totalMs - waitMs) },
    ...(facts.error !== undefined && { comment: facts.error }),
  };
}

function harResponse(
  events: readonly TraceEvent[],
  response: NonNullable<RequestState['response']>,
  status: number,
): object {
  const body = bodyOf(events, 'response') ?? response.body;
  const bytes = body === undefined ? 0 : Buffer.from(body, 'base64').length;
  return {
    status: response.code ?? status,
    statusText: '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairsOf(response.headers),
    content: {
      size: bytes,
      mimeType: headerOf(response.headers, 'content-type'),
      ...(body !== undefined && { text: body, encoding: 'base64' }),
    },
    redirectURL: headerOf(response.headers, 'location'),
    headersSize: -1,
    bodySize: bytes,
  };
}

function requestOf(events: readonly TraceEvent[]): NonNullable<RequestState['request']> | undefined {
  const first = events.find((event) => event.message.type === 'requestSnapshot');
  return first === undefined ? undefined : (stateOf(first)?.request ?? undefined);
}

function lastState(events: readonly TraceEvent[], type: string): RequestState | undefined {
  const last = events.findLast((event) => event.message.type === type);
  return last === undefined ? undefined : stateOf(last);
}

function requestBody(events: readonly TraceEvent[], request: NonNullable<RequestState['request']>): string | undefined {
  const encoded = request.body ?? bodyOf(events, 'final request');
  return encoded === undefined || encoded === '' ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

function bodyOf(events: readonly TraceEvent[], stage: string): string | undefined {
  for (const { message } of events) {
    if (message.type === 'bodySnapshot' && message.stage === stage && typeof message.body === 'string')
      return message.body;
  }
  return undefined;
}

function urlOf(request: NonNullable<RequestState['request']>): string {
  if (request.uri !== undefined && /^https?:/.test(request.uri)) return request.uri;
  return `${request.scheme ?? 'http'}://${request.host ?? 'localhost'}${request.pathAndQuery ?? request.path ?? '/'}`;
}

function pairsOf(headers: Headers | undefined): Pair[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    [value].flat().map((one) => ({ name, value: String(one) })),
  );
}

function headerOf(headers: Headers | undefined, wanted: string): string {
  return pairsOf(headers).find(({ name }) => name.toLowerCase() === wanted)?.value ?? '';
}

function queryOf(url: string): Pair[] {
  return URL.canParse(url) ? [...new URL(url).searchParams].map(([name, value]) => ({ name, value })) : [];
}

/** A word that a POSIX shell reads back as it was. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
