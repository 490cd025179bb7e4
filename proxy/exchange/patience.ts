import type { GivingUp } from './collect.ts';
import type { Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';
import { refuse } from './refusal.ts';
import type { Clock } from './wait.ts';
import { clientLeft, requestTimeout } from './wait.ts';

/** How long work on an exchange's behalf is worth it: until its deadline, and while its client is there. */
export class Patience implements GivingUp {
  #abort: AbortController | null = null;
  #listener: ((reason: Error) => void) | null = null;
  readonly #unlisten: () => void;
  readonly #unschedule: (() => void) | null;
  #refusal: Refusal | null = null;

  constructor(exchange: Pick<Exchange, 'onClientGone' | 'deadlineAt'>, clock: Clock) {
    this.#unlisten = exchange.onClientGone(() => this.end(clientLeft));
    const { deadlineAt } = exchange;
    const late = (): void => this.end(requestTimeout);
    this.#unschedule = deadlineAt === null ? null : clock.schedule(late, deadlineAt - clock.now());
  }

  /** Aborted when the work is to be given up. */
  get signal(): AbortSignal {
    this.#abort ??= abortedBy(this.#refusal);
    return this.#abort.signal;
  }

  /** For one listener at a time. */
  onGivenUp(listener: (reason: Error) => void): () => void {
    if (this.#refusal !== null) listener(new Error(this.#refusal.message));
    else this.#listener = listener;
    return () => (this.#listener = null);
  }

  /** Why the work was given up; null while it goes on. */
  get refusal(): Refusal | null {
    return this.#refusal;
  }

  /** The work is over: neither the clock nor the exchange is listened to any more. */
  release(): void {
    this.#unlisten();
    this.#unschedule?.();
  }

  /** Gives the work up, for the first reason that there is. */
  end(refusal: Refusal): void {
    if (this.#refusal !== null) return;
    this.#refusal = refusal;
    const reason = new Error(refusal.message);
    this.#abort?.abort(reason);
    this.#listener?.(reason);
  }
}

function abortedBy(refusal: Refusal | null): AbortController {
  const abort = new AbortController();
  if (refusal !== null) abort.abort(new Error(refusal.message));
  return abort;
}

/** What to answer when the client's body could not be read to where it was needed. */
export function bodyRefusal(error: Error, patience: Patience): Refusal {
  return patience.refusal ?? refuse(400, 'InvalidRequest', `request body was cut: ${error.message}`);
}
