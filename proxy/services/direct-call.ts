import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A call of an address that is no backend: no pools, no policies, a connection of its own that is closed at the end. */
export interface DirectCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly maxBytes: number;
  /** Gives the call up. */
  readonly signal: AbortSignal;
}

export interface DirectAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The answer was larger than asked for. */
export class AnswerTooLarge extends Error {}

/** Calls an `http:` or `https:` address, its answer read whole. Redirects are answers too. */
export async function callDirectly({
  method,
  url,
  headers,
  body,
  maxBytes,
  signal,
}: DirectCall): Promise<DirectAnswer> {
  // Loaded by the first call, since most gateways make none; a library would cost each thread much more.
  const { request } = url.startsWith('https:') ? await import('node:https') : await import('node:http');
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = { method, headers: { ...headers, ...length, connection: 'close' }, agent: false, signal } as const;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, options, (response) => {
      readWhole(response, maxBytes).then(resolve, (error: unknown) => {
        outgoing.destroy();
        reject(error);
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function readWhole(response: IncomingMessage, maxBytes: number): Promise<DirectAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    // `as`: what a response without an encoding yields.
    const bytes = chunk as Buffer;
    size += bytes.byteLength;
    if (size > maxBytes) throw new AnswerTooLarge(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  const { headers } = response;
  return { status: response.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString() };
}
