import type { Duplex } from 'node:stream';

import type { Keepalives } from '../../src/config/ir/index.ts';
import type { Body } from '../exchange/body.ts';
import type { Headers } from '../exchange/headers.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Secret } from '../../src/shared/secret.ts';
import type { OriginTls } from './tls.ts';

/** Where connections are opened to, and how; connections are pooled by `key`. Built while compiling, not per request. */
export interface Origin {
  /** Identity of the pool: address, protocol, TLS and TCP settings. */
  readonly key: string;
  readonly address: OriginAddress;
  readonly tls: OriginTls | null;
  /** `auto`: by ALPN over TLS, HTTP/1.1 without. */
  readonly protocol: 'http1' | 'http2' | 'auto';
  readonly connectTimeoutMs: number;
  readonly keepalives: Keepalives;
  /** The address came from a request (dynamic backends): the number of such pools is bounded, and reloads leave them alone. */
  readonly ephemeral?: boolean;
  /** The HTTP proxy on the way; without one, connections are direct. */
  readonly proxy?: OriginProxy;
}

/** An HTTP proxy that an origin is reached through. */
export interface OriginProxy {
  /** `connect`: a tunnel to the origin; `forward`: each request is handed to the proxy, with its whole address. */
  readonly mode: 'connect' | 'forward';
  /** Chosen anew for each connection. Throws an `UpstreamError` when there is none. */
  readonly origin: () => Origin;
  /** How the gateway shows itself to the proxy; `header` is lower case, `value` the whole of it. */
  readonly credential: { readonly header: string; readonly value: Secret } | null;
}

export type OriginAddress =
  /** `host` may be a name: it is resolved with the configured family and cached. No brackets. */
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** What goes out. Hop-by-hop headers are already gone; framing headers are the connection's own business. */
export interface UpstreamRequest {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Body;
  readonly upgrade: string | null;
  /** CONNECT-like raw use is not an upstream request; see `openTunnel`. */
  readonly onInformational?: ((status: number, headers: Headers) => void) | undefined;
}

export interface UpstreamResponse extends HttpResponse {
  /** The raw connection after a 101; its body is empty then. */
  readonly upgraded: Duplex | null;
  /** `ip:port` or socket path that answered. */
  readonly peer: string;
}

export type UpstreamFailureKind = 'dns' | 'connect' | 'connectTimeout' | 'tls' | 'reset' | 'protocol' | 'cancelled';

/** Why there is no response. */
export class UpstreamError extends Error {
  readonly kind: UpstreamFailureKind;
  /** `ip:port` that was tried, when it came to that. */
  readonly peer: string | null;

  constructor(kind: UpstreamFailureKind, message: string, options: { peer?: string | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'UpstreamError';
    this.kind = kind;
    this.peer = options.peer ?? null;
  }
}

/** One call in flight. */
export interface UpstreamCall {
  /** Resolves at the response head; rejects with an `UpstreamError`. */
  readonly response: Promise<UpstreamResponse>;
  /** Gives the call up: before the head the promise rejects with kind `cancelled`, after it the body ends in `onError`. */
  cancel(): void;
}

/** The pools of one data thread. */
export interface UpstreamPools {
  send(origin: Origin, request: UpstreamRequest): UpstreamCall;
  /** A raw byte stream (TLS originated when the origin says so), for TCP routes. */
  openTunnel(origin: Origin): Promise<Duplex>;
  /** Closes idle connections of origins that no engine uses any more. */
  retainOnly(keys: ReadonlySet<string>): void;
  close(): void;
}
