import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GwError, messageOf } from '../../shared/errors.ts';
import { BodySink } from './body-sink.ts';
import type { RequestPlan } from './plan.ts';
import type { Answer, SendOptions } from './answer.ts';

/** Sends one HTTP/1.1 request on the socket. */
export async function sendHttp1(plan: RequestPlan, socket: Socket, options: SendOptions): Promise<Answer> {
  const started = performance.now();
  const response = await headOf(plan, socket, options.signal);
  const sink = new BodySink(options.maxBodyBytes);
  let failure: string | undefined;
  try {
    // A response without encoding delivers buffers.
    for await (const part of response) sink.take(part as Buffer);
  } catch (error) {
    if (options.signal.aborted) throw error;
    failure = `the connection broke in the body: ${messageOf(error)}`;
  }
  return {
    httpVersion: response.httpVersion,
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    headers: pairs(response.rawHeaders),
    trailers: pairs(response.rawTrailers),
    body: sink.body(),
    bodyBytes: sink.bytes,
    tookMs: performance.now() - started,
    failure,
  };
}

async function headOf(plan: RequestPlan, socket: Socket, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, method, body } = plan;
  return new Promise((resolve, reject) => {
    const outgoing = request({
      method,
      path: `${url.pathname}${url.search}`,
      headers: flatHeaders(plan),
      setHost: false,
      createConnection: () => socket,
      signal,
    });
    outgoing.on('response', resolve);
    // An upgrade leaves no body to read; its head is the answer.
    outgoing.on('upgrade', (response) => {
      socket.destroy();
      resolve(response);
    });
    outgoing.on('error', (error) => reject(signal.aborted ? error : noAnswer(error)));
    outgoing.end(body);
  });
}

function noAnswer(error: unknown): GwError {
  return new GwError(`the gateway gave no usable answer: ${messageOf(error)}`, { code: 'GW_NO_ANSWER', cause: error });
}

/** A flat list keeps the order, the case and repeated names. */
function flatHeaders({ headers, body }: RequestPlan): string[] {
  const has = (wanted: string): boolean => headers.some(([name]) => name.toLowerCase() === wanted);
  const length =
    body === undefined || has('content-length') || has('transfer-encoding')
      ? []
      : ['Content-Length', String(body.byteLength)];
  return [...headers.flat(), ...length, ...(has('connection') ? [] : ['Connection', 'close'])];
}

function pairs(raw: readonly string[]): readonly (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return found;
}
