import { messageOf, systemCodeOf } from '../../../../src/shared/errors.ts';
import type { Log } from '../../../../src/shared/log.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { LastingState } from '../../../policy/contract.ts';
import { Guardian } from './guardian.ts';
import { hurried, Program, type ProgramOptions } from './program.ts';

/** Programs of one data thread that may run at once, those aside that are being stopped. */
const MAX_PROGRAMS = 256;

export interface ProgramsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly max?: number | undefined;
}

/** Every program that a data thread runs. */
export class Programs implements LastingState {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #running = new Set<Program>();
  readonly #guardian: Guardian;
  #closed = false;

  constructor({ clock, log, max = MAX_PROGRAMS }: ProgramsOptions) {
    this.#clock = clock;
    this.#max = max;
    this.#guardian = new Guardian(log);
  }

  get count(): number {
    return this.#running.size;
  }

  /** Whether another one could only be started in the place of one that runs. */
  get full(): boolean {
    return this.#running.size >= this.#max;
  }

  /** In words why it cannot be, else a program that starts; its failure to do so comes as its end. */
  start(options: Omit<ProgramOptions, 'clock'>): Program | string {
    if (this.#closed) return 'the gateway is ending';
    if (this.full && !this.#makeRoom()) return `${this.#max} programs are running, which is the most`;
    const program = this.#begun(options);
    if (typeof program === 'string') return program;
    const { pid } = program;
    this.#running.add(program);
    if (pid !== undefined) this.#guardian.began(pid);
    void this.#watch(program);
    return program;
  }

  /** The program that nobody has needed for the longest time goes. */
  #makeRoom(): boolean {
    let idlest: Program | null = null;
    let since = Number.POSITIVE_INFINITY;
    for (const program of this.#running) {
      const idle = program.idleSince();
      if (idle === null || idle >= since) continue;
      idlest = program;
      since = idle;
    }
    idlest?.giveWay();
    return idlest !== null;
  }

  async #watch(program: Program): Promise<void> {
    const { pid } = program;
    await program.gone;
    this.#running.delete(program);
    if (pid !== undefined) this.#guardian.ended(pid);
  }

  #begun(options: Omit<ProgramOptions, 'clock'>): Program | string {
    try {
      return new Program({ ...options, clock: this.#clock });
    } catch (error) {
      return `the program could not be started: ${systemCodeOf(error) ?? messageOf(error)}`;
    }
  }

  /** Conversations end with their sessions. */
  retired(): void {}

  /** Resolves when none runs any more; none is started from now on. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#running].map((program) => program.stop(hurried)));
    this.#guardian.close();
  }
}
