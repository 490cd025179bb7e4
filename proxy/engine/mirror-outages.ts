import type { Log } from '../../src/shared/log.ts';

/** Tells the log of mirrors that cannot be reached: once when it begins and once when it is over, however many copies fail. */
export class MirrorOutages {
  readonly #log: Log;
  /** Copies lost since the last that arrived, by backend. */
  readonly #lost = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  failed(backend: string, error: string): void {
    const lost = this.#lost.get(backend) ?? 0;
    this.#lost.set(backend, lost + 1);
    if (lost === 0) this.#log.warn('mirrored requests fail', { backend, error });
    else this.#log.debug('mirrored request failed', { backend, error });
  }

  arrived(backend: string): void {
    const lost = this.#lost.get(backend);
    if (lost === undefined) return;
    this.#lost.delete(backend);
    this.#log.info('mirrored requests arrive again', { backend, lost });
  }
}
