import type { Http1ConnectionFactory } from './http1-connection.ts';
import type { Http2ClientOptions } from './http2-client.ts';
import type { ConnectedListener } from './dial.ts';
import type { Resolver } from './dns.ts';

/** Coarse time, moved by one timer for all pools: ages cost a comparison and no system call. */
export interface Tick {
  now: number;
  readonly ms: number;
}

/** What every pool of a data thread shares. */
export interface PoolContext {
  readonly tick: Tick;
  readonly resolver: Resolver;
  readonly http1: Http1ConnectionFactory;
  readonly http2: Omit<Http2ClientOptions, 'peer'>;
  readonly onConnected: ConnectedListener | undefined;
  /** Most idle HTTP/1.1 connections per origin. */
  readonly maxIdle: number;
  /** How long a connection may be idle. */
  readonly idleTicks: number;
  /** Aborted when the pools close; its reason is what dials under way fail with. */
  readonly signal: AbortSignal;
  readonly closed: boolean;
}
