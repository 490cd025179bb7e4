import { createHash } from 'node:crypto';

const MOST = 10_000;

/** Ids that clients have ended; those that were ended last are remembered. */
export class EndedIds {
  /** Hashes: ids may be long. */
  readonly #hashes = new Set<string>();

  add(id: string): void {
    this.#hashes.add(hashOf(id));
    if (this.#hashes.size <= MOST) return;
    for (const oldest of this.#hashes) {
      this.#hashes.delete(oldest);
      return;
    }
  }

  has(id: string): boolean {
    return this.#hashes.size > 0 && this.#hashes.has(hashOf(id));
  }
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('base64');
}
