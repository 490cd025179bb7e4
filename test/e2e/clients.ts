/** Clients and upstreams beyond plain HTTP/1, and ways to wait for what happens on the other side. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  createSecureServer,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { describe } from '@jest/globals';

import { fixture, hasTool } from '../proxy/listener/harness.ts';

export { fixture, fixturePath, hasTool, run } from '../proxy/listener/harness.ts';

/** Clients of tests that need them; without the tool their tests are skipped, which the run tells. */
export const withCurl = hasTool('curl') ? describe : describe.skip;

/** Of a busy machine; nothing waits longer than it has to. */
const PATIENCE_MS = 20_000;

/** Waits until the condition holds; fails with its name when it never does. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`this never came true: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A promise to be kept from a callback. */
export function signal<T = void>(): PromiseWithResolvers<T> {
  return Promise.withResolvers<T>();
}

/** A client that says what it is told to, byte by byte. */
export class RawClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isClosed = false;

  constructor(port: number, options: { allowHalfOpen?: boolean } = {}) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: options.allowHalfOpen ?? false });
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => (this.#received = Buffer.concat([this.#received, chunk])));
    this.closed = new Promise((resolve) =>
      this.socket.on('close', () => {
        this.#isClosed = true;
        resolve();
      }),
    );
  }

  get received(): Buffer {
    return this.#received;
  }

  get text(): string {
    return this.#received.toString('latin1');
  }

  write(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  /** Waits for what must come; fails with what came instead. */
  async until(holds: (text: string) => boolean): Promise<string> {
    await eventually('the answer', () => holds(this.text) || this.#isClosed).catch(() => {});
    if (!holds(this.text)) {
      throw new Error(`${this.#isClosed ? 'closed after' : 'open after'} ${JSON.stringify(this.text.slice(0, 2000))}`);
    }
    return this.text;
  }

  close(): void {
    this.socket.destroy();
  }
}

export interface OpenServer {
  readonly port: number;
  /** Connections that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections that were ever opened. */
  readonly opened: () => number;
  close(): void;
}

async function openServer(server: Server, onClose: () => void = () => {}): Promise<OpenServer> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    sockets,
    opened: () => opened,
    close: () => {
      server.close();
      onClose();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A server that answers each connection by hand. */
export async function tcpUpstream(
  onConnection: (socket: Socket) => void,
  options: { allowHalfOpen?: boolean } = {},
): Promise<OpenServer> {
  return openServer(createServer({ allowHalfOpen: options.allowHalfOpen ?? false }, onConnection));
}

export interface Http2Upstream extends OpenServer {
  readonly sessions: ReadonlySet<ServerHttp2Session>;
}

export type StreamListener = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** An HTTP/2 server: in plaintext, or with one of the certificates of the fixtures. */
export async function http2Upstream(
  onStream: StreamListener,
  options: { certificate?: string; alpn?: string[]; maxConcurrentStreams?: number } = {},
): Promise<Http2Upstream> {
  const sessions = new Set<ServerHttp2Session>();
  const { certificate, maxConcurrentStreams } = options;
  const settings = maxConcurrentStreams === undefined ? {} : { settings: { maxConcurrentStreams } };
  const server =
    certificate === undefined
      ? createHttp2Server(settings)
      : createSecureServer({
          cert: fixture(`${certificate}.crt`),
          key: fixture(`${certificate}.key`),
          ...settings,
          ...(options.alpn === undefined ? {} : { ALPNProtocols: options.alpn }),
        });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => {});
    onStream(stream, headers);
  });
  const opened = await openServer(server, () => {
    for (const session of sessions) session.destroy();
  });
  return { ...opened, sessions };
}

/** Answers over HTTP/2 with what it was asked, as JSON. */
export const echoStream: StreamListener = (stream, headers) => {
  let body = '';
  stream.on('data', (chunk: Buffer) => (body += chunk.toString()));
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    stream.end(JSON.stringify({ headers, body }));
  });
};

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** One HTTP/2 connection of a client. */
export class Http2Client {
  readonly session: ClientHttp2Session;
  /** Error codes of the GOAWAY frames so far. */
  readonly goaways: number[] = [];
  readonly closed: Promise<void>;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on('error', () => {});
    session.on('goaway', (code) => this.goaways.push(code));
    this.closed = new Promise((resolve) => session.on('close', () => resolve()));
  }

  static async connect(url: string, options: SecureClientSessionOptions = {}): Promise<Http2Client> {
    const session = connectHttp2(url, options);
    await once(session, 'connect');
    return new Http2Client(session);
  }

  stream(headers: OutgoingHttpHeaders, endStream = false): ClientHttp2Stream {
    const stream = this.session.request({ ':authority': 'shop.test', ...headers }, { endStream });
    stream.on('error', () => {});
    return stream;
  }

  async ask(headers: OutgoingHttpHeaders, body?: string | Uint8Array): Promise<Http2Answer> {
    const stream = this.stream(headers, body === undefined);
    if (body !== undefined) stream.end(body);
    return answerOf(stream);
  }

  close(): void {
    this.session.destroy();
  }
}

/** Reads a response to its end; rejects when the stream was reset. */
export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    let headers: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    let trailers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on('response', (fields) => (headers = fields));
    stream.on('trailers', (fields) => (trailers = fields));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('close', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) {
        reject(new Error(`the stream was reset with code ${stream.rstCode}`));
        return;
      }
      const body = Buffer.concat(chunks);
      resolve({ status: headers[':status'] ?? 0, headers, trailers, body, text: body.toString() });
    });
  });
}

/** A message of gRPC: not compressed, its length, its bytes. */
export function grpcFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}
