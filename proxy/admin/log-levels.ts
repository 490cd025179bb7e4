import type { LogFilter, Logger } from '../../src/shared/log.ts';
import type { Clock } from '../exchange/wait.ts';

/** The filter of every thread. */
export interface LogControl {
  readonly current: LogFilter;
  /** As it was when the process started. */
  readonly initial: LogFilter;
  set(filter: LogFilter): void;
}

/** The levels of a process log; `apply` hands a new filter, as text, to the other threads. */
export function logControl(logger: Logger, apply: (filter: string) => void): LogControl {
  return {
    initial: logger.filter,
    get current() {
      return logger.filter;
    },
    set(filter) {
      logger.setFilter(filter);
      apply(String(filter));
    },
  };
}

/** What the levels go back to, and when. */
export interface PendingReturn {
  readonly filter: LogFilter;
  /** Milliseconds from now. */
  readonly inMs: number;
}

/** The log levels while the process runs: a change stays, or goes back by itself. Close it at the end. */
export class LogLevels {
  readonly #control: LogControl;
  readonly #clock: Clock;
  #pending: { readonly filter: LogFilter; readonly at: number; readonly cancel: () => void } | null = null;

  constructor(control: LogControl, clock: Clock) {
    this.#control = control;
    this.#clock = clock;
  }

  get current(): LogFilter {
    return this.#control.current;
  }

  get initial(): LogFilter {
    return this.#control.initial;
  }

  get pending(): PendingReturn | null {
    if (this.#pending === null) return null;
    const { filter, at } = this.#pending;
    return { filter, inMs: Math.max(0, Math.round(at - this.#clock.now())) };
  }

  /**
   * Changes the filter for good, which cancels a return that is pending, or for `durationMs`. One change for a while after
   * another goes back to what held before the first: what was meant to pass does not become lasting.
   */
  change(filter: LogFilter, durationMs?: number): void {
    const lasting = this.#pending?.filter ?? this.#control.current;
    this.close();
    this.#control.set(filter);
    if (durationMs === undefined) return;
    const cancel = this.#clock.schedule(() => {
      this.#pending = null;
      this.#control.set(lasting);
    }, durationMs);
    this.#pending = { filter: lasting, at: this.#clock.now() + durationMs, cancel };
  }

  /** Takes a pending return back; the filter stays as it is. */
  close(): void {
    this.#pending?.cancel();
    this.#pending = null;
  }
}
