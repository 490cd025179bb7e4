import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { ConnectionFacts, TlsFacts } from '../exchange/connection.ts';
import { plainAddress } from './address.ts';
import { whenAdmitted } from './admission.ts';
import { chooseListener } from './choose.ts';
import { type ClientHello, MAX_HELLO_BYTES, parseClientHello } from './client-hello.ts';
import { type CompiledBind, type CompiledListener, listenerIdentity } from './compiled.ts';
import type { ConnectionErrorKind, ConnectionLabels, ListenerDependencies } from './contract.ts';
import type { HttpConnectionStart, HttpServerConnection } from './http-connection.ts';
import { Http2Connection } from './http2.ts';
import { peek, type PeekFailure } from './peek.ts';
import { peerIdentity } from './peer-identity.ts';
import { parseProxyHeader, type ProxyHeader, type ProxyHeaderOutcome } from './proxy-protocol.ts';
import { proxyTcp, TCP_IDLE_MS } from './tcp.ts';
import { handshake } from './tls-handshake.ts';
import type { CompiledTls } from './tls-server.ts';

/** What a connection asks of the port that accepted it. */
export interface ConnectionOwner {
  readonly deps: ListenerDependencies;
  readonly draining: boolean;
  readonly port: number;
  closed(connection: Connection): void;
}

/** Time for a first byte on a connection that is asked to leave before it has said anything. */
const SILENT_LEAVE_MS = 1000;
const PROXY_HEADER_TIMEOUT_MS = 5000;
const PROXY_HEADER_MAX_BYTES = 16 + 512;
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
/** Fatal alert `unrecognized_name` (RFC 6066 section 3) as a TLS record. */
const NO_LISTENER_ALERT = Buffer.from([21, 3, 1, 0, 2, 2, 112]);
/** Fatal alert `decode_error`. */
const DECODE_ALERT = Buffer.from([21, 3, 1, 0, 2, 2, 50]);
const PLAINTEXT_ON_TLS =
  'HTTP/1.0 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nthis port speaks HTTPS\n';

/**
 * One accepted connection on its way through the pipeline: PROXY header, TLS, protocol detection, service. Each step reads
 * only what it needs to decide and hands the bytes on.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #bind: CompiledBind;
  readonly #id: number;
  #proxied: ProxyHeader['addresses'] = null;
  #listener: CompiledListener | null = null;
  #http: HttpServerConnection | null = null;
  /** Asked to leave, if only after a first request. */
  #leaving = false;
  #silence: NodeJS.Timeout | null = null;
  #labels: ConnectionLabels | null = null;
  #countedIn = 0;
  #countedOut = 0;
  readonly #rawAddress: string;

  constructor(socket: Socket, bind: CompiledBind, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#bind = bind;
    this.#owner = owner;
    this.#id = owner.deps.nextConnectionId();
    this.#rawAddress = plainAddress(socket.remoteAddress);
    // A reset is the connection's end and nothing else; whoever reads it at that time has its own listener.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#onClose());
  }

  /** Identity of the listener that the handshake chose; null on plaintext connections. */
  get tlsListenerIdentity(): string | null {
    return this.#listener === null || !('tls' in this.#listener.protocol) ? null : listenerIdentity(this.#listener);
  }

  start(): void {
    if (this.#owner.draining) this.#limitSilence();
    if (this.#bind.proxyProtocol === null) this.#begin(null);
    else this.#readProxyHeader(this.#bind.proxyProtocol);
  }

  /** HTTP leaves at the next possible moment; a raw byte stream is left to finish. */
  drain(): void {
    this.#leaving = true;
    this.#http?.drain();
    this.#limitSilence();
  }

  /** Connections that were opened ahead of need are no reason to wait, but a first request may be on its way. */
  #limitSilence(): void {
    const silent = (): boolean => this.#bind.protocol !== 'tcp' && this.#socket.bytesRead === 0;
    if (this.#silence !== null || !silent()) return;
    this.#silence = setTimeout(() => {
      if (silent()) this.#socket.destroy();
    }, SILENT_LEAVE_MS);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Brings the byte counters of a connection that is still open up to date. */
  sampleBytes(): void {
    if (this.#labels === null) return;
    const { metrics } = this.#owner.deps;
    const { bytesRead, bytesWritten } = this.#socket;
    if (bytesRead > this.#countedIn) metrics.bytesReceived(this.#labels, bytesRead - this.#countedIn);
    if (bytesWritten > this.#countedOut) metrics.bytesSent(this.#labels, bytesWritten - this.#countedOut);
    this.#countedIn = Math.max(this.#countedIn, bytesRead);
    this.#countedOut = Math.max(this.#countedOut, bytesWritten);
  }

  // ── PROXY protocol ──

  #readProxyHeader(policy: NonNullable<CompiledBind['proxyProtocol']>): void {
    const optional = policy.mode === 'optional';
    peek<ProxyHeaderOutcome>({
      socket: this.#socket,
      first: null,
      deadlineMs: PROXY_HEADER_TIMEOUT_MS,
      maxBytes: PROXY_HEADER_MAX_BYTES + 1,
      decide: (bytes) => {
        const outcome = parseProxyHeader(bytes, policy.version);
        return outcome.kind === 'more' ? outcome : { kind: 'done', value: outcome };
      },
      onDone: (outcome, bytes) => this.#proxyHeaderRead(outcome, bytes, optional),
      onFailed: (failure, bytes) => {
        // A client that waits for the server to speak first has not sent a header, nor will it.
        if (optional && failure === 'timeout' && bytes.length === 0) this.#begin(null);
        else this.#refusePeek('proxyHeader', failure, bytes, 'a PROXY header');
      },
    });
  }

  #proxyHeaderRead(outcome: ProxyHeaderOutcome, bytes: Buffer, optional: boolean): void {
    if (outcome.kind === 'header') {
      this.#proxied = outcome.header.addresses;
      this.#begin(bytes.length > outcome.used ? bytes.subarray(outcome.used) : null);
    } else if (outcome.kind === 'absent' && optional) {
      this.#begin(bytes);
    } else {
      this.#refuse('proxyHeader', outcome.kind === 'malformed' ? outcome.detail : 'no PROXY header');
    }
  }

  /** Behind the PROXY header, if any; `first` is what has been read already. */
  #begin(first: Buffer | null): void {
    if (this.#bind.protocol === 'tls') this.#readClientHello(first);
    else if (this.#bind.protocol === 'tcp') this.#serveTcp(first);
    else this.#detectHttp(first);
  }

  // ── TLS ──

  #readClientHello(first: Buffer | null): void {
    const startedAt = performance.now();
    const deadlineMs = this.#bind.frontend.tls.handshakeTimeoutMs;
    peek<ClientHello | string>({
      socket: this.#socket,
      first,
      deadlineMs,
      maxBytes: MAX_HELLO_BYTES * 2,
      decide: (bytes) => {
        const outcome = parseClientHello(bytes);
        if (outcome.kind === 'more') return outcome;
        return { kind: 'done', value: outcome.kind === 'hello' ? outcome.hello : outcome.detail };
      },
      onDone: (hello, bytes) => {
        if (typeof hello === 'string') this.#refuseHello(hello, bytes);
        else this.#route(hello, bytes, startedAt);
      },
      onFailed: (failure, bytes) => this.#refusePeek('clientHello', failure, bytes, 'a TLS ClientHello'),
    });
  }

  #route(hello: ClientHello, bytes: Buffer, startedAt: number): void {
    const listener = chooseListener(this.#bind.listeners, hello.serverName, 'tls');
    if (listener === undefined) {
      this.#socket.end(NO_LISTENER_ALERT);
      this.#refuse('noListener', `no listener for server name ${hello.serverName ?? '(none)'}`, hello.serverName);
      return;
    }
    this.#attribute(listener);
    const { protocol } = listener;
    this.#socket.pause();
    this.#socket.unshift(bytes);
    if (protocol.kind === 'TLS' && protocol.tls === null) {
      const start = { listenerKey: listener.key, routes: protocol.routes, sni: hello.serverName, idleMs: TCP_IDLE_MS };
      const facts = { ...this.#facts(null), serverName: hello.serverName ?? undefined };
      this.#admit(this.#socket, facts, () => proxyTcp(this.#socket, facts, start, this.#owner.deps));
    } else if ('tls' in protocol && protocol.tls !== null) {
      this.#terminate({ listener, tls: protocol.tls, hello, startedAt });
    }
  }

  #terminate(choice: { listener: CompiledListener; tls: CompiledTls; hello: ClientHello; startedAt: number }): void {
    const { listener, tls, hello, startedAt } = choice;
    const elapsedMs = performance.now() - startedAt;
    const timer = setTimeout(
      () => this.#refuse('timeout', 'the TLS handshake took too long', hello.serverName),
      Math.max(1, this.#bind.frontend.tls.handshakeTimeoutMs - elapsedMs),
    );
    handshake(tls.server, this.#socket, (outcome) => {
      clearTimeout(timer);
      if (outcome.kind === 'failed') {
        this.#refuse('tlsHandshake', outcome.detail, hello.serverName);
        return;
      }
      const facts = this.#facts(tlsFacts(outcome.socket, tls, listener, hello));
      if (this.#labels !== null) {
        this.#owner.deps.metrics.tlsHandshake(this.#labels, (performance.now() - startedAt) / 1000);
      }
      outcome.socket.on('error', () => outcome.socket.destroy());
      this.#admit(outcome.socket, facts, () => this.#serveTls(outcome.socket, listener, facts));
    });
  }

  #serveTls(socket: TLSSocket, listener: CompiledListener, facts: ConnectionFacts): void {
    const { protocol } = listener;
    if (protocol.kind === 'TLS') {
      const sni = facts.tls?.sni ?? null;
      const start = { listenerKey: listener.key, routes: protocol.routes, sni, idleMs: TCP_IDLE_MS };
      proxyTcp(socket, facts, start, this.#owner.deps);
    } else if (socket.alpnProtocol === 'h2') {
      this.#serveHttp2(socket, facts, null);
    } else {
      this.#serveHttp1(socket, facts, null);
    }
  }

  #refuseHello(detail: string, bytes: Buffer): void {
    if (/^[A-Z]{3,7} [/*h]/.test(bytes.toString('latin1', 0, 12))) {
      this.#socket.end(PLAINTEXT_ON_TLS);
      this.#refuse('plaintextOnTls', 'the client spoke plain HTTP to a TLS port');
      return;
    }
    this.#socket.end(DECODE_ALERT);
    this.#refuse('clientHello', detail);
  }

  // ── plaintext ──

  #detectHttp(first: Buffer | null): void {
    const { listeners } = this.#bind;
    this.#attribute(listeners.length === 1 ? (listeners[0] ?? null) : null);
    peek<'http1' | 'http2'>({
      socket: this.#socket,
      first,
      deadlineMs: this.#bind.frontend.http.http1IdleTimeoutMs,
      maxBytes: HTTP2_PREFACE.length,
      decide: detectHttp,
      onDone: (version, bytes) => {
        const facts = this.#facts(null);
        this.#admit(this.#socket, facts, () => {
          if (version === 'http2') this.#serveHttp2(this.#socket, facts, bytes);
          else this.#serveHttp1(this.#socket, facts, bytes);
        });
      },
      // Silence from its opening to the idle limit is no error: browsers open connections ahead of need.
      onFailed: (failure, bytes) => {
        if (bytes.length === 0) this.#socket.destroy();
        else this.#refusePeek('timeout', failure, bytes, 'a request');
      },
    });
  }

  #serveHttp1(socket: Socket | TLSSocket, facts: ConnectionFacts, first: Buffer | null): void {
    const { deps } = this.#owner;
    // A wait for admission has paused it; nothing is delivered before the next turn.
    if (socket.isPaused()) socket.resume();
    this.#http = deps.serveHttp1(socket, facts, this.#httpStart(first), deps.handler);
  }

  #serveHttp2(socket: Socket | TLSSocket, facts: ConnectionFacts, first: Buffer | null): void {
    const { deps } = this.#owner;
    const onError = (detail: string): void => this.#report('http2', detail, facts.tls?.sni ?? null);
    this.#http = new Http2Connection(socket, facts, this.#httpStart(first), { handler: deps.handler, onError });
  }

  #httpStart(first: Buffer | null): HttpConnectionStart {
    return { first, http: this.#bind.frontend.http, draining: this.#leaving || this.#owner.draining };
  }

  #serveTcp(first: Buffer | null): void {
    const listener = chooseListener(this.#bind.listeners, null, 'tcp');
    if (listener === undefined || listener.protocol.kind !== 'TCP') {
      this.#refuse('noListener', 'no TCP listener');
      return;
    }
    this.#attribute(listener);
    this.#socket.pause();
    if (first !== null) this.#socket.unshift(first);
    const start = { listenerKey: listener.key, routes: listener.protocol.routes, sni: null, idleMs: TCP_IDLE_MS };
    const facts = this.#facts(null);
    this.#admit(this.#socket, facts, () => proxyTcp(this.#socket, facts, start, this.#owner.deps));
  }

  // ── admission ──

  /** Nothing of a connection that is refused here is answered. */
  #admit(socket: Socket | TLSSocket, facts: ConnectionFacts, serve: () => void): void {
    const refuse = (detail: string): void => this.#refuse('denied', detail, facts.tls?.sni ?? null);
    whenAdmitted(this.#owner.deps.admit, { socket, raw: this.#socket, facts, serve, refuse });
  }

  // ── facts, counts, ends ──

  #facts(tls: TlsFacts | null): ConnectionFacts {
    const socket = this.#socket;
    const rawPort = socket.remotePort ?? 0;
    return {
      id: this.#id,
      bind: this.#bind.key,
      bindPort: this.#owner.port,
      sourceAddress: this.#proxied?.sourceAddress ?? this.#rawAddress,
      sourcePort: this.#proxied?.sourcePort ?? rawPort,
      rawAddress: this.#rawAddress,
      rawPort,
      destinationAddress: this.#proxied?.destinationAddress ?? plainAddress(socket.localAddress),
      destinationPort: this.#proxied?.destinationPort ?? socket.localPort ?? 0,
      tls,
    };
  }

  /** From here on the connection counts for a listener (null: each request chooses one). */
  #attribute(listener: CompiledListener | null): void {
    this.#listener = listener;
    this.#labels = {
      bind: this.#bind.key,
      gateway: listener === null ? null : `${listener.gatewayNamespace}/${listener.gatewayName}`,
      listener: listener?.name ?? null,
      protocol: protocolLabel(listener),
    };
    this.#owner.deps.metrics.connectionOpened(this.#labels);
  }

  #refusePeek(kind: ConnectionErrorKind, failure: PeekFailure, bytes: Buffer, wanted: string): void {
    if (failure === 'timeout') this.#refuse('timeout', `${wanted} did not arrive in time`);
    else if (failure === 'tooLong') this.#refuse(kind, `${wanted} is too long`);
    // A connection that is opened and closed without a byte is a health check.
    else if (bytes.length === 0) this.#socket.destroy();
    else this.#refuse(kind, `the connection ended inside ${wanted}`);
  }

  #refuse(kind: ConnectionErrorKind, detail: string, sni: string | null = null): void {
    this.#report(kind, detail, sni);
    // After an alert or an answer the socket is closed when that is out.
    if (this.#socket.writableEnded) this.#socket.destroySoon();
    else this.#socket.destroy();
  }

  #report(kind: ConnectionErrorKind, detail: string, sni: string | null): void {
    this.#owner.deps.onConnectionError({ kind, bind: this.#bind.key, detail, remoteAddress: this.#rawAddress, sni });
  }

  #onClose(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.sampleBytes();
    if (this.#labels !== null) this.#owner.deps.metrics.connectionClosed(this.#labels);
    this.#owner.closed(this);
  }
}

/** HTTP/2 with prior knowledge begins with its preface; no HTTP/1 method does. */
function detectHttp(bytes: Buffer): { kind: 'more' } | { kind: 'done'; value: 'http1' | 'http2' } {
  const length = Math.min(bytes.length, HTTP2_PREFACE.length);
  if (bytes.compare(HTTP2_PREFACE, 0, length, 0, length) !== 0) return { kind: 'done', value: 'http1' };
  return length < HTTP2_PREFACE.length ? { kind: 'more' } : { kind: 'done', value: 'http2' };
}

function tlsFacts(socket: TLSSocket, tls: CompiledTls, listener: CompiledListener, hello: ClientHello): TlsFacts {
  const certificate = tls.mutual ? socket.getPeerX509Certificate() : undefined;
  return {
    sni: hello.serverName,
    alpn: typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : null,
    version: socket.getProtocol() ?? '',
    listenerKey: listener.key,
    peer: certificate === undefined ? null : peerIdentity(certificate),
  };
}

function protocolLabel(listener: CompiledListener | null): ConnectionLabels['protocol'] {
  switch (listener?.protocol.kind) {
    case 'HTTPS':
      return 'https';
    case 'TLS':
      return 'tls';
    case 'TCP':
      return 'tcp';
    default:
      return 'http';
  }
}
