/** Clients that stay connected, and load from several of them. */
import { Agent, type ClientRequest, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';

import type { Answer, Ask } from './gateway.ts';

export interface KeptAnswer extends Answer {
  /** The connection had carried a request before. */
  readonly reused: boolean;
  /** Number of the request on its client. */
  readonly localPort: number;
}

/** A client with one connection, which it keeps as long as the server lets it. */
export class KeepAliveClient {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(port: number) {
    this.#port = port;
  }

  ask(path: string, { method = 'GET', headers = {}, body }: Ask = {}): Promise<KeptAnswer> {
    return new Promise((resolve, reject) => {
      let socket: Socket | null = null;
      const target = { host: '127.0.0.1', port: this.#port, path, method, agent: this.#agent };
      const outgoing: ClientRequest = httpRequest(
        { ...target, headers: { host: 'shop.test', ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          const received: IncomingHttpHeaders = response.headers;
          // `localPort` is gone once the socket is closed.
          const localPort = socket?.localPort ?? 0;
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: received,
              body: Buffer.concat(chunks).toString(),
              reused: outgoing.reusedSocket,
              localPort,
            }),
          );
        },
      );
      outgoing.on('socket', (used) => (socket = used));
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Requests without a pause from several clients, each on a connection of its own, until it is stopped. */
export class Hammer {
  readonly answers: KeptAnswer[] = [];
  readonly failures: unknown[] = [];
  readonly #clients: KeepAliveClient[];
  readonly #rounds: number[];
  readonly #running: Promise<void>[];
  #waiting: { readonly rounds: readonly number[]; readonly resolve: () => void }[] = [];
  #stopped = false;

  constructor(port: number, path: string, clients = 8) {
    this.#clients = Array.from({ length: clients }, () => new KeepAliveClient(port));
    this.#rounds = this.#clients.map(() => 0);
    this.#running = this.#clients.map((client, index) => this.#run(client, { index, path }));
  }

  /** Resolves when every client has had `times` more answers (or failures) from requests. */
  rounds(times: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ rounds: this.#rounds.map((done) => done + times), resolve });
    });
  }

  /** Ends after the answers that are on their way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    for (const client of this.#clients) client.close();
  }

  close(): Promise<void> {
    return this.stop();
  }

  async #run(client: KeepAliveClient, { index, path }: { index: number; path: string }): Promise<void> {
    while (!this.#stopped) {
      try {
        this.answers.push(await client.ask(path));
      } catch (error) {
        this.failures.push(error);
      }
      this.#rounds[index] = (this.#rounds[index] ?? 0) + 1;
      this.#notify();
    }
  }

  #notify(): void {
    this.#waiting = this.#waiting.filter(({ rounds, resolve }) => {
      const reached = rounds.every((wanted, index) => (this.#rounds[index] ?? 0) >= wanted);
      if (reached) resolve();
      return !reached;
    });
  }
}
