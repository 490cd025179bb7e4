import { connect, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { GwError, messageOf } from '../../shared/errors.ts';
import { BodySink } from './body-sink.ts';
import type { RequestPlan } from './plan.ts';
import type { Answer, SendOptions } from './answer.ts';

/** Names that HTTP/2 forbids, and `host`, which becomes `:authority`. */
const LEFT_OUT = new Set(['host', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);

/** Sends one request as the first stream of an HTTP/2 connection on the socket. */
export async function sendHttp2(plan: RequestPlan, socket: Socket, options: SendOptions): Promise<Answer> {
  const started = performance.now();
  const session = connect(plan.url.origin, { createConnection: () => socket });
  const broken = new Promise<never>((_, reject) => {
    session.on('error', (error) => reject(noAnswer(error)));
  });
  broken.catch(() => {
    // Reported by the race below; a session may also break after the answer is whole.
  });
  try {
    const stream = session.request(headersOf(plan), { endStream: plan.body === undefined, signal: options.signal });
    if (plan.body !== undefined) stream.end(plan.body);
    return await Promise.race([answerOf(stream, options, started), broken]);
  } finally {
    session.destroy();
  }
}

async function answerOf(stream: ClientHttp2Stream, options: SendOptions, started: number): Promise<Answer> {
  let trailers: readonly (readonly [string, string])[] = [];
  stream.on('trailers', (fields) => {
    trailers = pairs(fields);
  });
  const head = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.on('response', resolve);
    stream.on('error', (error) => reject(options.signal.aborted ? error : noAnswer(error)));
    stream.on('close', () => reject(noAnswer(new Error('the stream closed before a head arrived'))));
  });
  const sink = new BodySink(options.maxBodyBytes);
  let failure: string | undefined;
  try {
    // A stream without encoding delivers buffers.
    for await (const part of stream) sink.take(part as Buffer);
  } catch (error) {
    if (options.signal.aborted) throw error;
    failure = `the stream broke in the body: ${messageOf(error)}`;
  }
  return {
    httpVersion: '2',
    status: Number(head[':status'] ?? 0),
    statusText: '',
    headers: pairs(head),
    trailers,
    body: sink.body(),
    bodyBytes: sink.bytes,
    tookMs: performance.now() - started,
    failure,
  };
}

function headersOf({ url, method, headers }: RequestPlan): OutgoingHttpHeaders {
  const authority = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? url.host;
  const fields: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (LEFT_OUT.has(lower)) continue;
    const before = fields[lower];
    fields[lower] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return {
    ':method': method,
    ':scheme': url.protocol.slice(0, -1),
    ':authority': authority,
    ':path': `${url.pathname}${url.search}`,
    ...fields,
  };
}

function noAnswer(error: unknown): GwError {
  return new GwError(`the gateway gave no usable answer: ${messageOf(error)}`, { code: 'GW_NO_ANSWER', cause: error });
}

function pairs(fields: IncomingHttpHeaders): readonly (readonly [string, string])[] {
  return Object.entries(fields)
    .filter(([name]) => !name.startsWith(':'))
    .flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value ?? '']).map((each): [string, string] => [name, each]),
    );
}
