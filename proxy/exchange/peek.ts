import type { Body } from './body.ts';
import { BufferedBody } from './body.ts';
import { joinChunks } from './collect.ts';
import { HoldingBody } from './holding-body.ts';

export type Peeked =
  /** `bytes` is the beginning, at most the limit; `body` still gives everything. */
  | { readonly kind: 'seen'; readonly bytes: Uint8Array; readonly whole: boolean; readonly body: Body }
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Looks at the first `limitBytes` of a body that goes on to somebody else. Waits until they are there, or the end is; the
 * source is paused meanwhile. Aborting cancels the body and gives `failed` with the signal's reason.
 */
export function peekBody(body: Body, limitBytes: number, signal: AbortSignal): Peeked | Promise<Peeked> {
  if (body.length === 0) return { kind: 'seen', bytes: NOTHING, whole: true, body };
  if (body instanceof BufferedBody) return seen(body.bytes, body, { limitBytes, ended: true });
  return new Promise((resolve) => {
    const peek = new Peek(body, limitBytes, (peeked) => {
      signal.removeEventListener('abort', onAbort);
      resolve(peeked);
    });
    const onAbort = (): void => peek.abort(reasonOf(signal));
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    peek.start();
  });
}

const NOTHING = new Uint8Array(0);

class Peek {
  readonly #source: Body;
  readonly #limitBytes: number;
  readonly #finish: (peeked: Peeked) => void;
  readonly #holding: HoldingBody;
  #decided = false;

  constructor(source: Body, limitBytes: number, finish: (peeked: Peeked) => void) {
    this.#source = source;
    this.#limitBytes = limitBytes;
    this.#finish = finish;
    this.#holding = new HoldingBody(source, [], () => this.#look());
  }

  start(): void {
    this.#source.pipe(this.#holding);
  }

  abort(error: Error): void {
    if (this.#decided) return;
    this.#holding.cancel();
    this.#decide({ kind: 'failed', error });
  }

  #look(): void {
    if (this.#decided) return;
    const holding = this.#holding;
    if (holding.error !== null) this.#decide({ kind: 'failed', error: holding.error });
    else if (holding.ended || this.#enough()) {
      if (!holding.ended) this.#source.pause();
      const bytes = joinChunks(holding.held);
      // What is there as a whole can be read again and again.
      const body = holding.ended ? new BufferedBody(bytes, holding.trailers) : holding;
      this.#decide(seen(bytes, body, { limitBytes: this.#limitBytes, ended: holding.ended }));
    }
  }

  /** A body that says that it is longer need not show the byte beyond the limit. */
  #enough(): boolean {
    const longer = (this.#source.length ?? 0) > this.#limitBytes;
    return this.#holding.heldBytes >= this.#limitBytes + (longer ? 0 : 1);
  }

  #decide(peeked: Peeked): void {
    this.#decided = true;
    this.#finish(peeked);
  }
}

function seen(bytes: Uint8Array, body: Body, read: { limitBytes: number; ended: boolean }): Peeked {
  const whole = read.ended && bytes.byteLength <= read.limitBytes;
  return { kind: 'seen', bytes: whole ? bytes : bytes.subarray(0, read.limitBytes), whole, body };
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}
