import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

import { Connection, type ConnectionOwner } from './accept.ts';
import { bindError } from './bind-error.ts';
import { type CompiledBind, listenerIdentity } from './compiled.ts';
import type { ListenerDependencies } from './contract.ts';

export interface OpenOptions {
  /** Several data threads listen on the port, and the kernel spreads connections over them. */
  readonly reusePort: boolean;
  /** Takes the place of the bind's own port: the number that the first thread got for port 0. */
  readonly port?: number | undefined;
}

/** Accept errors come in floods (no file descriptors left): one report in this time, with jitter. */
const ACCEPT_ERROR_PAUSE_MS = { shortest: 5, longest: 100 };
const BACKLOG = 4096;

/** One port: its socket and the connections that came through it. What is behind it may change while it is open. */
export class BoundPort implements ConnectionOwner {
  readonly deps: ListenerDependencies;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly #waiting: Socket[] = [];
  #compiled: CompiledBind;
  #active = false;
  #draining = false;
  #accepted = 0;
  #acceptErrorsQuietUntil = 0;
  #port = 0;
  #emptyWaiters: (() => void)[] = [];

  constructor(compiled: CompiledBind, deps: ListenerDependencies) {
    this.#compiled = compiled;
    this.deps = deps;
    // Half-open sockets: a client may end its side and still wait for the answer.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    this.#server.on('connection', (socket) => this.#onConnection(socket));
  }

  get key(): string {
    return this.#compiled.key;
  }

  /** The port that was opened; 0 before. */
  get port(): number {
    return this.#port;
  }

  get draining(): boolean {
    return this.#draining;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /**
   * Opens the socket and resolves with its port; rejects with a `BindError`. Connections are accepted but not served before
   * `activate`, so that a configuration can open what it needs and still be given up.
   */
  async open(options: OpenOptions): Promise<number> {
    const { host, key, address } = this.#compiled;
    const port = options.port ?? this.#compiled.port;
    try {
      await listening(this.#server, { host, port, reusePort: options.reusePort, exclusive: true, backlog: BACKLOG });
    } catch (error) {
      throw await bindError({ key, address, port }, error);
    }
    this.#server.on('error', (error) => this.#onAcceptError(error));
    const bound = this.#server.address();
    this.#port = typeof bound === 'object' && bound !== null ? bound.port : port;
    return this.#port;
  }

  /** Serves: the connections that wait, and those to come. */
  activate(): void {
    this.#active = true;
    for (const socket of this.#waiting.splice(0)) this.#serve(socket);
  }

  /**
   * Puts other listeners behind the port. Connections in plaintext notice nothing (each request asks anew); those of a TLS
   * listener that is gone or was changed are drained.
   */
  update(compiled: CompiledBind): void {
    this.#compiled = compiled;
    const kept = new Set(compiled.listeners.map(listenerIdentity));
    for (const connection of this.#connections) {
      const identity = connection.tlsListenerIdentity;
      if (identity !== null && !kept.has(identity)) connection.drain();
    }
  }

  /** Takes in the connections that wait at the socket, which the kernel resets when it is closed, and closes it. */
  async takeLast(): Promise<void> {
    for (let rounds = 0; rounds < BACKLOG; rounds++) {
      const before = this.#accepted;
      await this.takeWaiting();
      if (this.#accepted === before) break;
    }
    this.stopAccepting();
  }

  /** Takes in one of the connections that wait at the socket now, if there are any. */
  async takeWaiting(): Promise<void> {
    // The present round of the event loop may have looked at the socket before; the next one does it anew.
    await setImmediate();
    await setImmediate();
  }

  /** Closes the socket; open connections stay. */
  stopAccepting(): void {
    this.#server.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  /** Asks every client to leave. The port keeps accepting; new connections are asked after their first response. */
  drain(): void {
    this.#draining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Closes the socket and cuts every connection. */
  destroy(): void {
    this.stopAccepting();
    for (const connection of this.#connections) connection.destroy();
  }

  /** Resolves when no connection is open. */
  async empty(): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#emptyWaiters.push(resolve);
    });
  }

  /** Brings the byte counters of open connections up to date, for a reader of metrics. */
  sampleBytes(): void {
    for (const connection of this.#connections) connection.sampleBytes();
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    for (const resolve of this.#emptyWaiters.splice(0)) resolve();
  }

  #onConnection(socket: Socket): void {
    this.#accepted += 1;
    if (this.#active) {
      this.#serve(socket);
      return;
    }
    socket.on('error', () => socket.destroy());
    this.#waiting.push(socket);
  }

  #serve(socket: Socket): void {
    if (socket.destroyed) return;
    const keepalives = this.#compiled.frontend.tcp?.keepalives;
    if (keepalives?.enabled === true) {
      socket.setKeepAlive(true, keepalives.timeMs, keepalives.intervalMs, keepalives.retries);
    }
    const connection = new Connection(socket, this.#compiled, this);
    this.#connections.add(connection);
    connection.start();
  }

  /** The socket stays open and the event loop tries again by itself; only the reports are held back. */
  #onAcceptError(error: Error): void {
    const now = performance.now();
    if (now < this.#acceptErrorsQuietUntil) return;
    const { shortest, longest } = ACCEPT_ERROR_PAUSE_MS;
    this.#acceptErrorsQuietUntil = now + shortest + this.deps.random() * (longest - shortest);
    this.deps.onConnectionError({
      kind: 'accept',
      bind: this.key,
      detail: error.message,
      remoteAddress: null,
      sni: null,
    });
  }
}

async function listening(server: Server, options: Parameters<Server['listen']>[0]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
