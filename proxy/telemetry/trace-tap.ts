import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { NO_SLOT, type TraceGate } from '../supervisor/trace-gate.ts';
import type { EvalContext } from '../expression/contract.ts';
import type { Outbox } from './outbox.ts';
import { Recorder, type TraceLife } from './recorder.ts';
import { TraceFilters } from './trace-filters.ts';

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
    const trace = new TraceInFlight(requestId, this.#outbox);
    this.#outbox.force({ kind: 'begin', requestId, slot: NO_SLOT, follow: true, filters: [] });
    return new Recorder(requestId, (event) => trace.emit(event), performance.now(), [], trace);
  }

  /** A recorder for a request that somebody wants to see, else null. `originMs` is the `performance.now()` of time zero. */
  begin(requestId: string, originMs: number = performance.now(), arrival?: () => EvalContext): Recorder | null {
    const passed = this.filters.passedBy(arrival);
    const slot = this.#gate.claim((filter) => passed.has(filter));
    const follow = this.#gate.followed();
    const filters = this.filters.followed(passed);
    if (slot === NO_SLOT && !follow && filters.length === 0) return null;
    const trace = new TraceInFlight(requestId, this.#outbox);
    this.#outbox.force({ kind: 'begin', requestId, slot, follow, filters });
    return new Recorder(requestId, (event) => trace.emit(event), originMs, [], trace);
  }
}

class TraceInFlight implements TraceLife {
  readonly #requestId: string;
  readonly #outbox: Outbox<TraceItem>;
  #holders = 1;
  #lost = 0;

  constructor(requestId: string, outbox: Outbox<TraceItem>) {
    this.#requestId = requestId;
    this.#outbox = outbox;
  }

  emit(event: TraceEvent): void {
    if (this.#holders === 0) return;
    if (!this.#outbox.push({ kind: 'event', requestId: this.#requestId, json: serialize(event) })) this.#lost += 1;
    if (event.message.type === 'requestFinished' && event.scope === undefined) this.release();
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
