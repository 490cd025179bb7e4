import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { FrontendHttp } from '../../src/config/ir/index.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { RequestHandler } from '../exchange/exchange.ts';

/** The server side of one HTTP connection, whatever the version. */
export interface HttpServerConnection {
  /** Finishes what is in hand and tells the client to go elsewhere; closes when idle. */
  drain(): void;
  destroy(): void;
  readonly idle: boolean;
  onClosed(listener: () => void): void;
}

export interface HttpConnectionStart {
  /** Bytes that were read to find out what the connection speaks; the socket flows. */
  readonly first: Buffer | null;
  readonly http: FrontendHttp;
  /** The gateway is going away: serve what the client asks for first, and close. */
  readonly draining: boolean;
}

/** Begins to serve HTTP on a connection; HTTP/1 is injected, so that the two sides know each other by this alone. */
export type ServeHttp = (
  socket: Socket | TLSSocket,
  connection: ConnectionFacts,
  start: HttpConnectionStart,
  handler: RequestHandler,
) => HttpServerConnection;
