import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { RouteBackend, TcpRoute } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { joinHostPort } from '../backends/connect.ts';
import { connectionFailure } from '../backends/connection-failure.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { ListenerDependencies, TcpOutcome, TcpRecord } from './contract.ts';
import { Splice, type SpliceEnd } from './splice.ts';
import { chooseTcpRoute, pickBackend } from './tcp-route.ts';

export interface TcpStart {
  readonly listenerKey: string;
  readonly routes: readonly TcpRoute[];
  readonly sni: string | null;
  readonly idleMs: number;
}

/** Longest time without a byte in either direction. */
export const TCP_IDLE_MS = 60 * 60 * 1000;

type TcpDependencies = Pick<ListenerDependencies, 'dial' | 'random' | 'onTcpClosed'>;

/**
 * Proxies one connection of a TCP or TLS listener: chooses the route and a backend, dials, and copies bytes. The client's
 * stream is paused until there is somewhere to send to. A failure closes the connection: there is no language to say more in.
 */
export function proxyTcp(client: Duplex, connection: ConnectionFacts, start: TcpStart, deps: TcpDependencies): void {
  const tunnel = new TcpProxy(client, connection, start, deps);
  tunnel.run();
}

class TcpProxy {
  readonly #client: Duplex;
  readonly #connection: ConnectionFacts;
  readonly #start: TcpStart;
  readonly #deps: TcpDependencies;
  readonly #startedAt = Date.now();
  readonly #startedTick = performance.now();
  #route: TcpRoute | null = null;
  #backend: RouteBackend | null = null;
  #endpoint: string | null = null;
  #reported = false;

  constructor(client: Duplex, connection: ConnectionFacts, start: TcpStart, deps: TcpDependencies) {
    this.#client = client;
    this.#connection = connection;
    this.#start = start;
    this.#deps = deps;
  }

  run(): void {
    this.#client.pause();
    this.#client.on('error', this.#onEarlyError);
    this.#client.on('close', this.#onEarlyClose);
    this.#route = chooseTcpRoute(this.#start.routes, this.#start.sni) ?? null;
    if (this.#route === null) return this.#refuse('noRoute', null);
    this.#backend = pickBackend(this.#route.backends, this.#deps.random()) ?? null;
    if (this.#backend === null) return this.#refuse('noBackend', null);
    this.#deps
      .dial(this.#backend, {
        listenerKey: this.#start.listenerKey,
        connection: this.#connection,
        route: this.#route,
        sni: this.#start.sni,
        port: this.#connection.bindPort,
      })
      .then(
        (backend) => this.#connected(backend),
        (error: unknown) => this.#refuse('dialFailed', messageOf(error)),
      );
  }

  #connected(backend: Duplex): void {
    if (this.#client.destroyed) {
      backend.on('error', () => {});
      backend.destroy();
      return;
    }
    this.#endpoint = endpointOf(backend);
    this.#client.off('error', this.#onEarlyError);
    this.#client.off('close', this.#onEarlyClose);
    const splice = new Splice(this.#client, backend, {
      idleMs: this.#start.idleMs,
      onEnd: (end) => this.#report(end.outcome, errorOf(end), end),
    });
    splice.start();
  }

  #refuse(outcome: TcpOutcome, error: string | null): void {
    this.#report(outcome, error, null);
    this.#client.destroy();
  }

  readonly #onEarlyError = (error: Error): void => this.#report('clientReset', error.message, null);
  readonly #onEarlyClose = (): void => this.#report('cut', null, null);

  #report(outcome: TcpOutcome, error: string | null, end: SpliceEnd | null): void {
    if (this.#reported) return;
    this.#reported = true;
    const record: TcpRecord = {
      connection: this.#connection,
      listenerKey: this.#start.listenerKey,
      sni: this.#start.sni,
      route: this.#route,
      backend: this.#backend,
      endpoint: this.#endpoint,
      startedAt: this.#startedAt,
      durationMs: performance.now() - this.#startedTick,
      bytesReceived: end?.bytesReceived ?? 0,
      bytesSent: end?.bytesSent ?? 0,
      outcome,
      error,
    };
    this.#deps.onTcpClosed(record);
  }
}

function errorOf({ outcome, error }: SpliceEnd): string | null {
  if (error === null) return null;
  return outcome === 'backendReset' ? connectionFailure(error, '').message : error.message;
}

/** `ip:port` that the way to the backend leads to; null for a unix socket. */
function endpointOf(backend: Duplex): string | null {
  if (!(backend instanceof Socket) || backend.remoteAddress === undefined) return null;
  return joinHostPort(backend.remoteAddress, backend.remotePort ?? 0);
}
