import type { Clock } from '../../../exchange/wait.ts';
import type { LastingState } from '../../../policy/contract.ts';
import { Backoff } from './backoff.ts';
import type { ProgramWatch } from './connection.ts';
import { type Program, type ProgramEvents, unhurried } from './program.ts';
import type { ProgramLog } from './program-log.ts';

/** Whoever asks now and then finds one; a machine that nobody uses runs none. */
const KEPT_MS = 60_000;

export interface SpareOptions {
  readonly clock: Clock;
  readonly watch?: Pick<ProgramWatch, 'spareBegan' | 'spareEnded'> | undefined;
}

/**
 * One program of a target that has been started and asked nothing, so that the next conversation need not wait until it has
 * started. Programs are never shared: it belongs to whoever takes it. Kept over reloads that leave the target as it is.
 */
export class Spare implements LastingState {
  readonly #options: SpareOptions;
  /**
   * Of programs that end while nobody has asked them anything. Conversations do not wait for it: a program may have its
   * reasons, such as a file that only one of it can use.
   */
  readonly #short: Backoff;
  #waiting: Waiting | null = null;
  #retired = false;

  constructor(options: SpareOptions) {
    this.#options = options;
    this.#short = new Backoff(options.clock);
  }

  /** Starts one, unless one waits already or the last one has failed a moment ago. */
  prepare(start: (events: ProgramEvents) => Program | string, log: ProgramLog): void {
    const { clock, watch } = this.#options;
    if (this.#retired || this.#waiting !== null || this.#short.leftMs > 0) return;
    const events = new HandedOn((reason, failed) => this.#died(events, log, { reason, failed }));
    const program = start(events);
    if (typeof program === 'string') return;
    // What it says by itself waits in its pipe for whoever takes it.
    program.pause();
    const unschedule = clock.schedule(() => this.#drop(), KEPT_MS);
    const counted = program.pid !== undefined;
    if (counted) watch?.spareBegan();
    this.#waiting = { program, events, unschedule, counted };
  }

  /** Null when there is none. What it says from now on is told to `events`; it is read on with `resume`. */
  take(events: ProgramEvents): Program | null {
    const waiting = this.#waiting;
    if (waiting === null || !waiting.program.usable) return null;
    this.#forget(waiting);
    this.#short.succeeded();
    waiting.events.to = events;
    return waiting.program;
  }

  settled(): void {
    this.#retired = false;
  }

  /** The target is gone, or is another one. */
  retired(): void {
    this.#retired = true;
    this.#drop();
  }

  async close(): Promise<void> {
    this.retired();
    await Promise.resolve();
  }

  #drop(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#forget(waiting);
    void waiting.program.stop(unhurried);
  }

  #died(events: HandedOn, log: ProgramLog, { reason, failed }: { reason: string; failed: boolean }): void {
    if (!failed) log.note(reason);
    else {
      log.failed(`${reason}, though nobody had asked it anything`);
      this.#short.failed(reason);
    }
    if (this.#waiting?.events === events) this.#forget(this.#waiting);
  }

  #forget({ unschedule, counted }: Waiting): void {
    this.#waiting = null;
    unschedule();
    if (counted) this.#options.watch?.spareEnded();
  }
}

interface Waiting {
  readonly program: Program;
  readonly events: HandedOn;
  readonly unschedule: () => void;
  /** It has begun. */
  readonly counted: boolean;
}

/** Events of a program whose conversation comes later. */
class HandedOn implements ProgramEvents {
  to: ProgramEvents | null = null;
  readonly #onDeath: (reason: string, failed: boolean) => void;

  constructor(onDeath: (reason: string, failed: boolean) => void) {
    this.#onDeath = onDeath;
  }

  /** What one says that ends before anybody takes it is for nobody. */
  onLine(line: Buffer): void {
    this.to?.onLine(line);
  }

  onEnd(reason: string, failed: boolean): void {
    if (this.to === null) this.#onDeath(reason, failed);
    else this.to.onEnd(reason, failed);
  }

  /** Until it is taken, it is the first to make room for others. */
  idleSince(): number | null {
    return this.to === null ? Number.NEGATIVE_INFINITY : this.to.idleSince();
  }
}
