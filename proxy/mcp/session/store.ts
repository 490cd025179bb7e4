import type { Clock } from '../../exchange/wait.ts';
import type { LastingState } from '../../policy/contract.ts';
import { EndedIds } from './ended-ids.ts';

const MOST_REAP_MS = 30_000;
const LEAST_REAP_MS = 50;

/** What a store keeps. */
export interface KeptSession {
  /** Nobody uses it any more, or its backend is gone: it ends. Must not throw. */
  close(): void;
  /** The thread ends: what it holds here is let go, and somebody else may go on with it. Must not throw. */
  leave(): void;
}

export interface SessionStoreOptions {
  readonly clock: Clock;
  /** How long a session may lie idle. */
  readonly ttlMs: number;
  /** How many there may be; beyond that the one that lay idle for the longest time goes. */
  readonly max: number;
}

interface Entry<S> {
  readonly session: S;
  lastUsed: number;
  /** Calls under way and open streams: as long as there are some, the session is not idle. */
  holds: number;
  /** Those of them that end by themselves. */
  calls: number;
  /** To be closed when the last call has ended. */
  leaving: boolean;
}

/** The sessions of one backend in one data thread, by id; kept over reloads that leave the backend as it is. */
export class SessionStore<S extends KeptSession> implements LastingState {
  readonly #options: SessionStoreOptions;
  /** The one that was used last stands last. */
  readonly #entries = new Map<string, Entry<S>>();
  readonly #ended = new EndedIds();
  #retired = false;
  #unschedule: (() => void) | null = null;

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  keep(id: string, session: S): void {
    const before = this.remove(id);
    if (before !== session) before?.close();
    if (this.#entries.size >= this.#options.max) this.#evict();
    this.#entries.set(id, { session, lastUsed: this.#options.clock.now(), holds: 0, calls: 0, leaving: false });
    this.#reapLater();
  }

  /** Does not count as use. */
  peek(id: string): S | null {
    const entry = this.#entries.get(id);
    return entry === undefined || entry.leaving ? null : entry.session;
  }

  /** Counts as use. */
  find(id: string): S | null {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.leaving) return null;
    this.#touch(id, entry);
    return entry.session;
  }

  /**
   * Keeps the session from lying idle until what is returned is called. A `stream` may be open for as long as its client
   * likes: a session that has to go does not wait for it.
   */
  hold(id: string, what: 'call' | 'stream'): () => void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return () => {};
    const calls = what === 'call' ? 1 : 0;
    entry.holds += 1;
    entry.calls += calls;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      entry.holds -= 1;
      entry.calls -= calls;
      if (this.#entries.get(id) !== entry) return;
      if (entry.leaving && entry.calls === 0) this.#drop(id, entry);
      else this.#touch(id, entry);
    };
  }

  /** Takes it out; closing it is the caller's business. */
  remove(id: string): S | null {
    const entry = this.#entries.get(id);
    this.#entries.delete(id);
    return entry?.session ?? null;
  }

  /** Takes it out for good: its id stands for nothing any more. Closing it is the caller's business. */
  end(id: string): S | null {
    this.#ended.add(id);
    return this.remove(id);
  }

  /** Whether it was ended, as far as that is remembered. */
  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  settled(): void {
    this.#retired = false;
  }

  /** The backend is gone, or is another one: calls under way may finish. */
  retired(): void {
    this.#retired = true;
    for (const [id, entry] of this.#entries) {
      if (entry.calls === 0) this.#drop(id, entry);
      else entry.leaving = true;
    }
  }

  close(): Promise<void> {
    this.#unschedule?.();
    this.#unschedule = null;
    for (const { session } of this.#entries.values()) {
      if (this.#retired) session.close();
      else session.leave();
    }
    this.#entries.clear();
    return Promise.resolve();
  }

  #touch(id: string, entry: Entry<S>): void {
    entry.lastUsed = this.#options.clock.now();
    this.#entries.delete(id);
    this.#entries.set(id, entry);
  }

  #drop(id: string, { session }: Entry<S>): void {
    this.#entries.delete(id);
    session.close();
  }

  /** Where every session is in use, the one that began its use first has to go. */
  #evict(): void {
    let oldest: [string, Entry<S>] | null = null;
    for (const each of this.#entries) {
      oldest ??= each;
      if (each[1].holds > 0) continue;
      oldest = each;
      break;
    }
    if (oldest !== null) this.#drop(...oldest);
  }

  #reapLater(): void {
    this.#unschedule ??= this.#options.clock.schedule(
      () => {
        this.#unschedule = null;
        this.#reap();
        if (this.#entries.size > 0) this.#reapLater();
      },
      Math.max(LEAST_REAP_MS, Math.min(MOST_REAP_MS, this.#options.ttlMs / 2)),
    );
  }

  #reap(): void {
    const before = this.#options.clock.now() - this.#options.ttlMs;
    for (const [id, entry] of this.#entries) {
      if (entry.lastUsed > before) return;
      if (entry.holds === 0) this.#drop(id, entry);
    }
  }
}
