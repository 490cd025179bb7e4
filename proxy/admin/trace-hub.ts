import { ANY, NO_SLOT, type TraceGate } from '../supervisor/trace-gate.ts';
import type { TraceFilter } from '../telemetry/trace-filters.ts';
import type { TraceItem } from '../telemetry/trace-tap.ts';

/** Of watchers with an expression: each is evaluated for every request. */
const MAX_FILTERS = 64;

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
  /** Followers whose filters the request passed. */
  readonly filters: readonly number[];
}

interface Follower {
  readonly watcher: TraceWatcher;
  readonly filter: number;
}

/** Brings the events of traced requests from the data threads to those who watch. */
export class TraceHub {
  readonly #gate: TraceGate;
  /** Watchers of one request, by the slot they wait in. */
  readonly #waiting = new Map<number, TraceWatcher>();
  readonly #followers = new Set<Follower>();
  readonly #running = new Map<string, RunningTrace>();
  readonly #filters = new Map<number, TraceFilter>();
  readonly #publish: (filters: readonly TraceFilter[]) => Promise<void>;
  #filterIds = 0;

  /** `publish` tells the data threads all filters that there are; it resolves when they know. */
  constructor(gate: TraceGate, publish: (filters: readonly TraceFilter[]) => Promise<void> = () => Promise.resolve()) {
    this.#gate = gate;
    this.#publish = publish;
  }

  /** Makes a filter known to every data thread; undefined when there are too many. `dropFilter` forgets it. */
  async addFilter(filter: Omit<TraceFilter, 'id'>): Promise<number | undefined> {
    if (this.#filters.size >= MAX_FILTERS) return undefined;
    this.#filterIds += 1;
    const id = this.#filterIds;
    this.#filters.set(id, { id, ...filter });
    await this.#publish([...this.#filters.values()]);
    return id;
  }

  dropFilter(id: number): void {
    if (this.#filters.delete(id)) void this.#publish([...this.#filters.values()]);
  }

  /**
   * Waits for the next request that nobody else has taken and that passes the filter; undefined when too many wait.
   * Returns what leaves again.
   */
  watchOne(watcher: TraceWatcher, filter: number = ANY): (() => void) | undefined {
    const slot = this.#gate.wait(filter);
    if (slot === NO_SLOT) return undefined;
    this.#waiting.set(slot, watcher);
    return () => this.#leave(slot, watcher);
  }

  /** Gets every request from now on that passes the filter. */
  follow(watcher: TraceWatcher, filter: number = ANY): () => void {
    const follower = { watcher, filter };
    this.#followers.add(follower);
    this.#gate.follow(filter);
    return () => {
      if (this.#followers.delete(follower)) this.#gate.unfollow(filter);
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
    for (const watcher of this.#waiting.values()) watcher.ended();
    for (const { watcher } of this.#followers) watcher.ended();
    for (const trace of this.#running.values()) trace.once?.ended();
  }

  #begin(thread: number, item: Extract<TraceItem, { kind: 'begin' }>): void {
    const once = this.#waiting.get(item.slot) ?? null;
    this.#waiting.delete(item.slot);
    const { slot, follow, filters } = item;
    this.#running.set(keyOf(thread, item.requestId), { thread, slot, once, follow, filters });
  }

  #event(key: string, json: string): void {
    const trace = this.#running.get(key);
    if (trace === undefined) return;
    trace.once?.event(json);
    this.#eachFollower(trace, (watcher) => watcher.event(json));
  }

  #end(key: string, lost: number): void {
    const trace = this.#running.get(key);
    if (trace === undefined) return;
    this.#running.delete(key);
    if (lost > 0) {
      trace.once?.lost(lost);
      this.#eachFollower(trace, (watcher) => watcher.lost(lost));
    }
    trace.once?.ended();
    if (trace.slot !== NO_SLOT) this.#gate.release(trace.slot);
  }

  #eachFollower({ follow, filters }: RunningTrace, tell: (watcher: TraceWatcher) => void): void {
    if (!follow && filters.length === 0) return;
    for (const { watcher, filter } of this.#followers) {
      if (filter === ANY ? follow : filters.includes(filter)) tell(watcher);
    }
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
