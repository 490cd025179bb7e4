import { connect as netConnect, type IpcNetConnectOpts, type Socket, type TcpNetConnectOpts } from 'node:net';

import { messageOf, systemCodeOf } from '../../src/shared/errors.ts';
import { UpstreamError, type OriginAddress } from './upstream.ts';

/** A second address is tried when the first has not answered after this long (RFC 8305 section 5). */
const NEXT_ADDRESS_DELAY_MS = 250;

export interface Connected {
  readonly socket: Socket;
  /** `ip:port` or socket path */
  readonly peer: string;
}

/** One thing to connect to. */
export interface ConnectTarget {
  readonly peer: string;
  readonly options: TcpNetConnectOpts | IpcNetConnectOpts;
}

export function tcpTargets(addresses: readonly string[], port: number): ConnectTarget[] {
  return addresses.map((host) => ({
    peer: joinHostPort(host, port),
    options: { host, port, autoSelectFamily: false, noDelay: true },
  }));
}

/** Connects to the first of several targets that answers. The signal's reason is what it rejects with. */
export function connectFirst(targets: readonly ConnectTarget[], signal: AbortSignal): Promise<Connected> {
  return new Promise((resolve, reject) => new Race(targets, signal, { resolve, reject }).next());
}

/** `ip:port`, IPv6 in brackets. */
export function peerOf(address: OriginAddress): string {
  return address.kind === 'unix' ? address.path : joinHostPort(address.host, address.port);
}

export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'no local address or port is free',
  ENOENT: 'socket does not exist',
  EACCES: 'permission denied',
  ETIMEDOUT: 'connection timed out',
  EMFILE: 'too many open files',
};

function connectError(error: unknown, peer: string): UpstreamError {
  const reason = REASONS[systemCodeOf(error) ?? ''] ?? messageOf(error);
  return new UpstreamError('connect', reason, { peer, cause: error });
}

interface Settlement {
  readonly resolve: (connected: Connected) => void;
  readonly reject: (error: unknown) => void;
}

/** Attempts that overlap: each starts when the one before has failed or is late; the first to connect wins. */
class Race {
  readonly #targets: readonly ConnectTarget[];
  readonly #signal: AbortSignal;
  readonly #settlement: Settlement;
  readonly #attempts = new Set<Socket>();
  #index = 0;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #lastError: unknown;

  constructor(targets: readonly ConnectTarget[], signal: AbortSignal, settlement: Settlement) {
    this.#targets = targets;
    this.#signal = signal;
    this.#settlement = settlement;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  next(): void {
    clearTimeout(this.#timer);
    const target = this.#targets[this.#index];
    if (this.#settled) return;
    if (target === undefined) {
      if (this.#attempts.size === 0)
        this.#fail(this.#lastError ?? new UpstreamError('connect', 'no address to connect to'));
      return;
    }
    this.#index += 1;
    this.#attempt(target);
    if (this.#index < this.#targets.length) this.#timer = setTimeout(() => this.next(), NEXT_ADDRESS_DELAY_MS);
  }

  #attempt({ peer, options }: ConnectTarget): void {
    const socket = netConnect(options);
    this.#attempts.add(socket);
    const onError = (error: unknown): void => {
      this.#attempts.delete(socket);
      socket.destroy();
      this.#lastError = connectError(error, peer);
      this.next();
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.off('error', onError);
      this.#attempts.delete(socket);
      this.#settle();
      this.#settlement.resolve({ socket, peer });
    });
  }

  readonly #onAbort = (): void => this.#fail(this.#signal.reason);

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#settlement.reject(error);
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#onAbort);
    for (const socket of this.#attempts) socket.on('error', () => {}).destroy();
    this.#attempts.clear();
  }
}
