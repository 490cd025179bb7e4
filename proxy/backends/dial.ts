import type { Socket } from 'node:net';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';

import type { Keepalives } from '../../src/config/ir/index.ts';
import { connectFirst, peerOf, tcpTargets, type Connected, type ConnectTarget } from './connect.ts';
import type { Resolver } from './dns.ts';
import type { OriginTls } from './tls.ts';
import { openThroughProxy } from './forward-proxy.ts';
import { handshakeFailure } from './tls-failure.ts';
import { UpstreamError, type Origin, type OriginProxy } from './upstream.ts';
import { verifyPeer } from './verify-peer.ts';

export interface Dialed {
  readonly socket: Socket;
  /** `ip:port` or socket path */
  readonly peer: string;
  /** The protocol that ALPN chose; null without TLS or without an agreement. */
  readonly alpn: string | null;
}

export interface DialOptions {
  readonly resolver: Resolver;
  /** Offered over TLS. */
  readonly alpn: readonly string[];
  /** Gives up; its reason is what the dial rejects with. */
  readonly signal: AbortSignal;
  /** Told of each connection that was made. */
  readonly onConnected?: ConnectedListener | undefined;
}

/** `seconds` from the start of the name's resolution to the end of the TLS handshake. */
export type ConnectedListener = (transport: 'plaintext' | 'tls', seconds: number) => void;

/** Resolves, connects and secures, all within the origin's connect timeout. Rejects with an `UpstreamError`. */
export async function dial(origin: Origin, options: DialOptions): Promise<Dialed> {
  const startedAt = performance.now();
  const dialed = await dialWithin(origin, options);
  options.onConnected?.(origin.tls === null ? 'plaintext' : 'tls', (performance.now() - startedAt) / 1000);
  return dialed;
}

async function dialWithin(origin: Origin, options: DialOptions): Promise<Dialed> {
  const abort = new AbortController();
  const onOuterAbort = (): void => abort.abort(options.signal.reason);
  if (options.signal.aborted) onOuterAbort();
  options.signal.addEventListener('abort', onOuterAbort, { once: true });
  const timer = setTimeout(() => abort.abort(timeoutError(origin)), origin.connectTimeoutMs);
  try {
    const { proxy } = origin;
    const connected =
      proxy === undefined
        ? await connectDirectly(origin, options.resolver, abort.signal)
        : await connectThrough({ ...origin, proxy }, options.resolver, abort.signal);
    if (origin.tls === null) return { ...connected, alpn: null };
    return await secure(connected, { tls: origin.tls, alpn: options.alpn, signal: abort.signal });
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onOuterAbort);
  }
}

async function connectDirectly(origin: Origin, resolver: Resolver, signal: AbortSignal): Promise<Connected> {
  const targets = await aborting(targetsOf(origin, resolver), signal);
  const connected = await connectFirst(targets, signal);
  if (origin.address.kind === 'tcp') applyKeepalives(connected.socket, origin.keepalives);
  return connected;
}

/** The name of the origin is left for the proxy to resolve. */
async function connectThrough(
  origin: Origin & { readonly proxy: OriginProxy },
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Connected> {
  const connected = await dialWithin(origin.proxy.origin(), { resolver, signal, alpn: ['http/1.1'] });
  return origin.proxy.mode === 'forward' ? connected : openThroughProxy(connected, origin, signal);
}

function timeoutError(origin: Origin): UpstreamError {
  const message = `no connection within ${origin.connectTimeoutMs} ms`;
  return new UpstreamError('connectTimeout', message, { peer: peerOf(origin.address) });
}

async function targetsOf({ address }: Origin, resolver: Resolver): Promise<ConnectTarget[]> {
  if (address.kind === 'unix') return [{ peer: address.path, options: { path: address.path } }];
  return tcpTargets(await resolver.resolve(address.host), address.port);
}

/** The promise, unless the signal comes first. */
function aborting<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The kernel counts in whole seconds, and refuses zero. */
function applyKeepalives(socket: Socket, keepalives: Keepalives): void {
  if (!keepalives.enabled) return;
  const intervalMs = Math.max(1000, keepalives.intervalMs);
  socket.setKeepAlive(true, Math.max(1000, keepalives.timeMs), intervalMs, Math.max(1, keepalives.retries));
}

interface SecureOptions {
  readonly tls: OriginTls;
  readonly alpn: readonly string[];
  readonly signal: AbortSignal;
}

function secure({ socket, peer }: Connected, { tls, alpn, signal }: SecureOptions): Promise<Dialed> {
  return new Promise((resolve, reject) => {
    const secured: TLSSocket = tlsConnect({
      socket,
      secureContext: tls.context,
      ...(tls.servername === undefined ? {} : { servername: tls.servername }),
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
      rejectUnauthorized: tls.verify !== 'none',
      checkServerIdentity: (_host, certificate) => verifyPeer(tls, certificate),
    });
    const stop = (): void => {
      signal.removeEventListener('abort', onAbort);
      secured.off('error', onError).off('secureConnect', onSecure).off('close', onClose);
    };
    const fail = (error: unknown): void => {
      stop();
      secured.on('error', () => {}).destroy();
      reject(error);
    };
    const onError = (error: unknown): void =>
      fail(new UpstreamError('tls', handshakeFailure(error), { peer, cause: error }));
    const onClose = (): void => fail(new UpstreamError('tls', 'connection closed during the TLS handshake', { peer }));
    const onAbort = (): void => fail(signal.reason);
    const onSecure = (): void => {
      stop();
      resolve({ socket: secured, peer, alpn: typeof secured.alpnProtocol === 'string' ? secured.alpnProtocol : null });
    };
    signal.addEventListener('abort', onAbort, { once: true });
    secured.once('error', onError).once('close', onClose).once('secureConnect', onSecure);
    if (signal.aborted) onAbort();
  });
}
