import { NO_SLOT, type TraceGate } from '../supervisor/trace-gate.ts';
import type { TraceItem } from '../telemetry/trace-tap.ts';

/** Somebody who watches; calls arrive in order. */
export interface TraceWatcher {
  /** One event as JSON text. */
  event(json: string): void;
  /** `count` events are missing here. */
  lost(count: number): void;
  /** Nothing more will come. */
  ended(): void;
}

interface RunningTrace {
  readonly thread: number;
  readonly slot: number;
  readonly once: TraceWatcher | null;
  readonly follow: boolean;
}

/** Brings the events of traced requests from the data threads to those who watch. */
export class TraceHub {
  readonly #gate: TraceGate;
  /** Watchers of one request, by the slot they wait in. */
  readonly #waiting = new Map<number, TraceWatcher>();
  readonly #followers = new Set<TraceWatcher>();
  readonly #running = new Map<string, RunningTrace>();

  constructor(gate: TraceGate) {
    this.#gate = gate;
  }

  /** Waits for the next request that nobody else has taken; undefined when too many wait. Returns what leaves again. */
  watchOne(watcher: TraceWatcher): (() => void) | undefined {
    const slot = this.#gate.wait();
    if (slot === NO_SLOT) return undefined;
    this.#waiting.set(slot, watcher);
    return () => this.#leave(slot, watcher);
  }

  /** Gets every request from now on. */
  follow(watcher: TraceWatcher): () => void {
    this.#followers.add(watcher);
    this.#gate.follow();
    return () => {
      if (this.#followers.delete(watcher)) this.#gate.unfollow();
    };
  }

  /** What a data thread sent. */
  take(thread: number, items: readonly TraceItem[]): void {
    for (const item of items) {
      if (item.kind === 'begin') this.#begin(thread, item);
      else if (item.kind === 'event') this.#event(keyOf(thread, item.requestId), item.json);
      else this.#end(keyOf(thread, item.requestId), item.lost);
    }
  }

  /** A thread is gone: its traces will not go on. */
  threadGone(thread: number): void {
    for (const [key, trace] of this.#running) if (trace.thread === thread) this.#end(key, 0);
  }

  close(): void {
    for (const watcher of [...this.#waiting.values(), ...this.#followers]) watcher.ended();
    for (const trace of this.#running.values()) trace.once?.ended();
  }

  #begin(thread: number, item: Extract<TraceItem, { kind: 'begin' }>): void {
    const once = this.#waiting.get(item.slot) ?? null;
    this.#waiting.delete(item.slot);
    this.#running.set(keyOf(thread, item.requestId), { thread, slot: item.slot, once, follow: item.follow });
  }

  #event(key: string, json: string): void {
    const trace = this.#running.get(key);
    if (trace === undefined) return;
    trace.once?.event(json);
    if (trace.follow) for (const follower of this.#followers) follower.event(json);
  }

  #end(key: string, lost: number): void {
    const trace = this.#running.get(key);
    if (trace === undefined) return;
    this.#running.delete(key);
    if (lost > 0) {
      trace.once?.lost(lost);
      if (trace.follow) for (const follower of this.#followers) follower.lost(lost);
    }
    trace.once?.ended();
    if (trace.slot !== NO_SLOT) this.#gate.release(trace.slot);
  }

  #leave(slot: number, watcher: TraceWatcher): void {
    if (this.#waiting.get(slot) !== watcher) return;
    this.#waiting.delete(slot);
    // A thread that has claimed it meanwhile reports that request to nobody, and its end releases the slot.
    if (this.#gate.withdraw(slot)) this.#gate.release(slot);
  }
}

function keyOf(thread: number, requestId: string): string {
  return `${thread}/${requestId}`;
}
