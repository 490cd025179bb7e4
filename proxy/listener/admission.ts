import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { messageOf } from '../../src/shared/errors.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { Admit } from './contract.ts';

/** A connection that is about to be served. */
export interface Arrival {
  /** What will be read from; what the client sends while admission is pending waits in it. */
  readonly socket: Socket | TLSSocket;
  /** The TCP connection under it. */
  readonly raw: Socket;
  readonly facts: ConnectionFacts;
  serve(): void;
  refuse(detail: string): void;
}

/** Serves a connection that may be served, and refuses every other. */
export function whenAdmitted(admit: Admit, arrival: Arrival): void {
  const abort = new LazyAbort();
  const admitted = admit(arrival.facts, () => abort.signal);
  if (admitted instanceof Promise) {
    arrival.socket.pause();
    void settle(admitted, arrival, abort);
  } else if (admitted) arrival.serve();
  else arrival.refuse(NOT_ALLOWED);
}

const NOT_ALLOWED = 'the connection is not allowed';

async function settle(admitted: Promise<boolean>, { raw, serve, refuse }: Arrival, abort: LazyAbort): Promise<void> {
  const onClose = (): void => abort.abort();
  raw.once('close', onClose);
  try {
    const allowed = await admitted;
    if (raw.destroyed) return;
    if (allowed) serve();
    else refuse(NOT_ALLOWED);
  } catch (error) {
    refuse(messageOf(error));
  } finally {
    raw.off('close', onClose);
  }
}

/** Nearly every connection needs no signal. */
class LazyAbort {
  #controller: AbortController | null = null;

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  abort(): void {
    this.#controller?.abort();
  }
}
