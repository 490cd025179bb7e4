import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { NO_SLOT, type TraceGate } from '../supervisor/trace-gate.ts';
import type { EvalContext } from '../expression/contract.ts';
import type { Outbox } from './outbox.ts';
import { Recorder } from './recorder.ts';
import { TraceFilters } from './trace-filters.ts';
import { isFinish, Keeping, type SentTrace, UndecidedTrace } from './undecided-trace.ts';

/** What a data thread tells the control thread about a traced request. Events travel as JSON: made once, sent as they are. */
export type TraceItem =
  /**
   * `slot` is the waiting watcher that this thread claimed for the request, or -1; `follow`: followers get it too, and so
   * do those with one of the `filters` that it passes.
   */
  | {
      readonly kind: 'begin';
      readonly requestId: string;
      readonly slot: number;
      readonly follow: boolean;
      readonly filters: readonly number[];
    }
  | { readonly kind: 'event'; readonly requestId: string; readonly json: string }
  /** `lost` events could not be queued in the data thread. */
  | { readonly kind: 'end'; readonly requestId: string; readonly lost: number };

/** Who decides which requests are recorded. */
export interface RequestTraces {
  /** Ask for every request. */
  watched(): boolean;
  /** A recorder for something that is no request. */
  beginFollowed(requestId: string): Recorder | null;
  /** `arrival` is what filters see of the request; without it, none is passed. */
  begin(requestId: string, originMs?: number, arrival?: () => EvalContext): Recorder | null;
}

/** Decides, per request, whether it is recorded, and sends its events to the control thread. */
export class TraceTap implements RequestTraces {
  readonly filters = new TraceFilters();
  readonly #gate: TraceGate;
  readonly #outbox: Outbox<TraceItem>;
  readonly #keeping = new Keeping();

  constructor(gate: TraceGate, outbox: Outbox<TraceItem>) {
    this.#gate = gate;
    this.#outbox = outbox;
  }

  /** Ask for every request; one read of shared memory. */
  watched(): boolean {
    return this.#gate.watched();
  }

  /** A recorder for something that is no request: followers see it, and it uses no waiting watcher up. */
  beginFollowed(requestId: string): Recorder | null {
    if (!this.#gate.watched() || !this.#gate.followed()) return null;
    const trace = this.#send(requestId, { slot: NO_SLOT, follow: true, filters: [] });
    const emit = (event: TraceEvent): void => trace.send(serialize(event), isFinish(event));
    return new Recorder(requestId, emit, performance.now(), [], trace);
  }

  /** A recorder for a request that somebody wants to see, or may when it is over, else null. `originMs` is the `performance.now()` of time zero. */
  begin(requestId: string, originMs: number = performance.now(), arrival?: () => EvalContext): Recorder | null {
    const passed = this.filters.passedBy(arrival);
    const slot = this.#gate.claim((filter) => passed.has(filter));
    const follow = this.#gate.followed();
    const filters = this.filters.followed(passed);
    const wanted = slot !== NO_SLOT || follow || filters.length > 0;
    const now = wanted ? this.#send(requestId, { slot, follow, filters }) : null;
    if (arrival !== undefined && this.filters.someWait) return this.#undecided(requestId, originMs, now);
    if (now === null) return null;
    return new Recorder(requestId, (event) => now.send(serialize(event), isFinish(event)), originMs, [], now);
  }

  #undecided(requestId: string, originMs: number, now: SentTrace | null): Recorder {
    const decide = (context: EvalContext): SentTrace | null => {
      const passed = this.filters.passedInTheEnd(context);
      if (passed.size === 0) return null;
      const slot = this.#gate.claim((filter) => passed.has(filter));
      const filters = this.filters.followed(passed);
      // By another name than what others may watch of it already.
      return slot === NO_SLOT && filters.length === 0
        ? null
        : this.#send(`${requestId}/end`, { slot, follow: false, filters });
    };
    const trace = new UndecidedTrace({ now, decide, keeping: this.#keeping });
    return new Recorder(requestId, (event) => trace.emit(event, serialize(event)), originMs, [], trace);
  }

  #send(requestId: string, watchers: Omit<Extract<TraceItem, { kind: 'begin' }>, 'kind' | 'requestId'>): TraceInFlight {
    this.#outbox.force({ kind: 'begin', requestId, ...watchers });
    return new TraceInFlight(requestId, this.#outbox);
  }
}

class TraceInFlight implements SentTrace {
  readonly #requestId: string;
  readonly #outbox: Outbox<TraceItem>;
  #holders = 1;
  #lost = 0;

  constructor(requestId: string, outbox: Outbox<TraceItem>) {
    this.#requestId = requestId;
    this.#outbox = outbox;
  }

  send(json: string, finishes: boolean): void {
    if (this.#holders === 0) return;
    if (!this.#outbox.push({ kind: 'event', requestId: this.#requestId, json })) this.#lost += 1;
    if (finishes) this.release();
  }

  lost(count: number): void {
    this.#lost += count;
  }

  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    this.#outbox.force({ kind: 'end', requestId: this.#requestId, lost: this.#lost });
    this.#outbox.flush();
  }
}

function serialize(event: TraceEvent): string {
  try {
    return JSON.stringify(event);
  } catch (error) {
    return JSON.stringify({ type: 'serialization_error', error: String(error) });
  }
}
