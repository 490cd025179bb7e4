import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface FakeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export type FakeHandler = FakeReply | ((request: IncomingMessage, response: ServerResponse) => void);

/** An admin interface that answers what a test tells it to, by path. */
export class FakeAdmin {
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    handlers: Readonly<Record<string, FakeHandler>>,
    listenOn: string | number = 0,
  ): Promise<FakeAdmin> {
    const server = createServer((request, response) => {
      const path = (request.url ?? '').replace(/\?.*$/s, '');
      admin.requests.push(`${request.method} ${request.url}`);
      const handler = handlers[path] ?? { status: 404, body: 'not found\n' };
      if (typeof handler === 'function') return handler(request, response);
      response.writeHead(handler.status ?? 200, { 'content-type': 'application/json', ...handler.headers });
      response.end(handler.body ?? '');
      return undefined;
    });
    const admin = new FakeAdmin(server);
    if (typeof listenOn === 'string') server.listen(listenOn);
    else server.listen(listenOn, '127.0.0.1');
    await once(server, 'listening');
    return admin;
  }

  get port(): number {
    // A TCP server's address is an object.
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Answers `/debug/trace` with events, then ends, breaks, or stays open. */
export function traceReply(events: readonly unknown[], then: 'end' | 'break' | 'stay' = 'end'): FakeHandler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': ready\n\n');
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    if (then === 'end') response.end();
    else if (then === 'break') setImmediate(() => response.destroy());
  };
}
