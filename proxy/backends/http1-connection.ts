import type { Duplex } from 'node:stream';
import type { UpstreamCall, UpstreamRequest } from './upstream.ts';

/** What a pool needs of an HTTP/1.1 client connection. */
export interface Http1Connection {
  send(request: UpstreamRequest): UpstreamCall;
  /** Idle, open and kept alive. */
  readonly reusable: boolean;
  /** A byte of the response to the last call was seen. */
  readonly started: boolean;
  readonly keepAliveHintMs: number | null;
  onIdle: (() => void) | null;
  onClosed: (() => void) | null;
  destroy(error?: Error): void;
}

export type Http1ConnectionFactory = (socket: Duplex, peer: string) => Http1Connection;
