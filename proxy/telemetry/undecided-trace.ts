import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import type { EvalContext } from '../expression/contract.ts';
import type { TraceLife } from './recorder.ts';

/** Where events of one request go to those who watch. */
export interface SentTrace extends TraceLife {
  /** `finishes` for the last event of the request itself; others may follow as long as somebody holds the trace. */
  send(json: string, finishes: boolean): void;
  lost(count: number): void;
}

/** How much of requests that are not decided on is kept by a thread, in characters of JSON. */
export class Keeping {
  readonly perRequest: number;
  readonly #atMost: number;
  #kept = 0;

  constructor(perRequest = 4 * 2 ** 20, atMost = 32 * 2 ** 20) {
    this.perRequest = perRequest;
    this.#atMost = atMost;
  }

  take(size: number): boolean {
    if (this.#kept + size > this.#atMost) return false;
    this.#kept += size;
    return true;
  }

  giveBack(size: number): void {
    this.#kept -= size;
  }
}

export interface UndecidedParts {
  /** Those who get it whatever becomes of it; null when there are none. */
  readonly now: SentTrace | null;
  /** Called once, when the request is over; null when nobody else wants it. */
  readonly decide: (context: EvalContext) => SentTrace | null;
  readonly keeping: Keeping;
}

/** The trace of a request that somebody wants to see only when it is known how it went: kept until then, or dropped. */
export class UndecidedTrace implements TraceLife {
  readonly #parts: UndecidedParts;
  #context: EvalContext | null = null;
  /** Undefined before it is decided. */
  #later: SentTrace | null | undefined;
  #kept: string[] = [];
  #size = 0;
  #lost = 0;
  #held = 0;

  constructor(parts: UndecidedParts) {
    this.#parts = parts;
  }

  about(context: EvalContext): void {
    this.#context = context;
  }

  emit(event: TraceEvent, json: string): void {
    const finishes = isFinish(event);
    this.#parts.now?.send(json, finishes);
    if (this.#later !== undefined) return this.#later?.send(json, finishes);
    if (finishes) this.#decide(json);
    else this.#keep(json);
  }

  hold(): void {
    this.#parts.now?.hold();
    if (this.#later === undefined) this.#held += 1;
    else this.#later?.hold();
  }

  release(): void {
    this.#parts.now?.release();
    if (this.#later === undefined) this.#held -= 1;
    else this.#later?.release();
  }

  #keep(json: string): void {
    const { keeping } = this.#parts;
    if (this.#size + json.length > keeping.perRequest || !keeping.take(json.length)) {
      this.#lost += 1;
      return;
    }
    this.#size += json.length;
    this.#kept.push(json);
  }

  #decide(last: string): void {
    const later = this.#context === null ? null : this.#parts.decide(asItIs(this.#context));
    const kept = this.#kept;
    this.#later = later;
    this.#kept = [];
    this.#context = null;
    this.#parts.keeping.giveBack(this.#size);
    if (later === null) return;
    for (let held = 0; held < this.#held; held += 1) later.hold();
    for (const json of kept) later.send(json, false);
    if (this.#lost > 0) later.lost(this.#lost);
    later.send(last, true);
  }
}

export function isFinish({ message, scope }: TraceEvent): boolean {
  return message.type === 'requestFinished' && scope === undefined;
}

/** What fails in the expression of somebody who watches is nothing that the trace tells of. */
function asItIs({ connection, request, response, attributes, progress, startedAt }: EvalContext): EvalContext {
  return { connection, request, response, attributes, progress, trace: null, startedAt };
}
