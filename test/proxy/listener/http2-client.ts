import { connect, type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2';

import type { Body, BodySink } from '../../../proxy/exchange/body.ts';
import { bindOf, listener, TestPort } from './harness.ts';

/** Ports in plaintext with a session of HTTP/2; `kill` ends what it has opened. */
export class Http2Ports {
  #port: TestPort | null = null;
  #session: ClientHttp2Session | null = null;

  /** A port alone, for clients that write bytes. */
  async listen(...options: PortOptions): Promise<TestPort> {
    return (this.#port = await new TestPort(plain, ...options).open());
  }

  async open(...options: PortOptions): Promise<{ port: TestPort; session: ClientHttp2Session }> {
    const port = await this.listen(...options);
    const session = connect(`http://127.0.0.1:${port.number}`);
    this.#session = session;
    session.on('error', () => {});
    return { port, session };
  }

  async kill(): Promise<void> {
    this.#session?.destroy();
    this.#session = null;
    await this.#port?.kill();
    this.#port = null;
  }
}

const plain = bindOf('http', [listener('web', { kind: 'HTTP' })]);

type PortOptions = ConstructorParameters<typeof TestPort> extends [unknown, ...infer Rest] ? Rest : never;

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export interface Answer {
  readonly headers: Record<string, unknown>;
  readonly informational: number[];
  readonly body: string;
  readonly trailers: Record<string, unknown>;
  readonly rstCode: number;
}

export async function answer(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let trailers: Record<string, unknown> = {};
    const informational: number[] = [];
    const chunks: Buffer[] = [];
    stream.on('error', () => {});
    stream.on('headers', (early) => informational.push(Number(early[':status'])));
    stream.on('response', (received) => (headers = received));
    stream.on('trailers', (received) => (trailers = received));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('close', () =>
      resolve({
        headers,
        informational,
        body: Buffer.concat(chunks).toString(),
        trailers,
        rstCode: stream.rstCode ?? 0,
      }),
    );
  });
}

export async function get(client: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<Answer> {
  return answer(client.request(headers));
}

export function frame(type: number, flags: number, stream: number, payload: readonly number[] | Buffer): Buffer {
  return Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, stream, ...payload]);
}

/** A body that the test feeds. */
export class FedBody implements Body {
  readonly length: number | null = null;
  sink: BodySink | null = null;
  paused = false;
  cancelled = false;
  onPiped: (() => void) | null = null;

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.onPiped?.();
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
    this.onPiped?.();
  }
  cancel(): void {
    this.cancelled = true;
  }
}
