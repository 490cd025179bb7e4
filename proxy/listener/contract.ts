import type { Duplex } from 'node:stream';

import type { RouteBackend, TcpRoute } from '../../src/config/ir/index.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { RequestHandler } from '../exchange/exchange.ts';
import type { ServeHttp } from './http-connection.ts';

/** Names that the metrics of a connection carry. `listener` is null where each request chooses its own. */
export interface ConnectionLabels {
  readonly bind: string;
  readonly gateway: string | null;
  readonly listener: string | null;
  readonly protocol: 'http' | 'https' | 'tcp' | 'tls';
}

export interface ListenerMetrics {
  connectionOpened(labels: ConnectionLabels): void;
  connectionClosed(labels: ConnectionLabels): void;
  /** Bytes that crossed the socket, TLS and framing included. */
  bytesReceived(labels: ConnectionLabels, bytes: number): void;
  bytesSent(labels: ConnectionLabels, bytes: number): void;
  tlsHandshake(labels: ConnectionLabels, seconds: number): void;
}

/** Why a connection ended before it could carry anything. */
export type ConnectionErrorKind =
  | 'accept'
  | 'proxyHeader'
  | 'clientHello'
  | 'noListener'
  | 'tlsHandshake'
  | 'plaintextOnTls'
  | 'timeout'
  | 'denied'
  | 'http2';

export interface ConnectionError {
  readonly kind: ConnectionErrorKind;
  readonly bind: string;
  readonly detail: string;
  /** Null when there was no connection yet. */
  readonly remoteAddress: string | null;
  readonly sni: string | null;
}

export interface TunnelContext {
  readonly listenerKey: string;
  readonly connection: ConnectionFacts;
  readonly route: TcpRoute;
  readonly sni: string | null;
  /** Port of the bind: what a `dynamic` backend dials the SNI on. */
  readonly port: number;
}

/** Opens the way to a backend of a TCP route, TLS and tunnels applied; rejects when that fails. */
export type DialTunnel = (backend: RouteBackend, context: TunnelContext) => Promise<Duplex>;

export type TcpOutcome =
  | 'closed'
  | 'noRoute'
  | 'noBackend'
  | 'dialFailed'
  | 'idle'
  | 'clientReset'
  | 'backendReset'
  | 'cut';

/** One connection of a TCP or TLS listener, told when it is over; for the access log. */
export interface TcpRecord {
  readonly connection: ConnectionFacts;
  readonly listenerKey: string;
  readonly sni: string | null;
  readonly route: TcpRoute | null;
  readonly backend: RouteBackend | null;
  /** `ip:port` that was dialled. */
  readonly endpoint: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly outcome: TcpOutcome;
  readonly error: string | null;
}

/**
 * Whether a connection may be served, asked once, before anything of it is; a promise only when somebody has to be asked.
 * `closed` makes a signal that is aborted when the client leaves meanwhile.
 */
export type Admit = (connection: ConnectionFacts, closed: () => AbortSignal) => boolean | Promise<boolean>;

/** What the listeners of one data thread are given. */
export interface ListenerDependencies {
  readonly serveHttp1: ServeHttp;
  readonly handler: RequestHandler;
  readonly admit: Admit;
  readonly dial: DialTunnel;
  readonly metrics: ListenerMetrics;
  readonly onTcpClosed: (record: TcpRecord) => void;
  readonly onConnectionError: (error: ConnectionError) => void;
  /** 0 ≤ r < 1 */
  readonly random: () => number;
  readonly nextConnectionId: () => number;
}
