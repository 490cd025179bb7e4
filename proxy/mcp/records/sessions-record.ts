import type { LastingState } from '../../policy/contract.ts';
import type { SessionsReport } from './report.ts';

/** A session that is open in this thread, as far as it is counted. */
export interface OpenSession {
  readonly id: string;
  /** Another thread has it, and counts it. */
  readonly elsewhere: boolean;
  /** Names of the targets that it has a session or a program of. */
  withTargets(): readonly string[];
}

/** Sessions that were ended last and are remembered. */
const MAX_ENDED = 4096;

/** The sessions of one backend in one data thread. A session may have copies in several threads. */
export class SessionsRecord implements LastingState {
  readonly #backend: string;
  readonly #onRetired: (record: SessionsRecord) => void;
  readonly #open = new Map<OpenSession, number>();
  readonly #ended = new Set<number>();

  constructor(backend: string, onRetired: (record: SessionsRecord) => void) {
    this.#backend = backend;
    this.#onRetired = onRetired;
  }

  began(session: OpenSession): void {
    this.#open.set(session, fingerprintOf(session.id));
  }

  /** `byClient`: nobody goes on with it, in no thread. */
  over(session: OpenSession, byClient: boolean): void {
    const known = this.#open.get(session);
    this.#open.delete(session);
    if (!byClient || known === undefined) return;
    this.#ended.add(known);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  report(): SessionsReport {
    const groups = new Map<string, { targets: readonly string[]; ids: number[] }>();
    for (const [session, id] of this.#open) {
      if (session.elsewhere) continue;
      const targets = session.withTargets();
      // Names of targets have no line ends.
      const key = targets.join('\n');
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { targets, ids: [id] });
      else group.ids.push(id);
    }
    return {
      backend: this.#backend,
      groups: [...groups.values()].map(({ targets, ids }) => ({ targets, ids: Float64Array.from(ids) })),
      ended: Float64Array.from(this.#ended),
    };
  }

  retired(): void {
    this.#onRetired(this);
  }

  close(): Promise<void> {
    this.retired();
    return Promise.resolve();
  }
}

/** A number that stands for a session id, the same in every thread; 53 bits. */
export function fingerprintOf(id: string): number {
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
