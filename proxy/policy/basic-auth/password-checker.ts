import { createHmac, randomBytes } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import type { HtpasswdUser } from '../../../src/config/ir/index.ts';
import type { Credentials } from './credentials.ts';
import { type HashJob, HashThread } from './hash-thread.ts';
import { verify } from './verify.ts';

/** Logins that stay cheap; a further one costs its hash again. */
const MOST_ACCEPTED = 10_000;
/** Clients that repeat a wrong password; few, so that guessing pushes nothing out that matters. */
const MOST_REFUSED = 1000;

/** A check under way. `leave` gives it up; the last one to leave takes it back. */
export interface PendingCheck {
  readonly verdict: Promise<boolean>;
  leave(): void;
}

interface Shared {
  readonly verdict: Promise<boolean>;
  readonly job: HashJob;
  waiting: number;
}

/**
 * Compares passwords with hashes that are slow on purpose, and remembers the verdicts: under a keyed digest of name, hash and
 * password, whose key never leaves the process, so that nothing in memory can be tried against a dictionary.
 */
export class PasswordChecker {
  readonly #key = randomBytes(32);
  readonly #accepted = new LRUCache<string, true>({ max: MOST_ACCEPTED });
  readonly #refused = new LRUCache<string, true>({ max: MOST_REFUSED });
  readonly #pending = new Map<string, Shared>();
  readonly #thread = new HashThread();

  /** The verdict, or the check that has to be waited for; null when too many checks wait already. */
  check({ name, password }: Credentials, { hash, scheme }: HtpasswdUser): boolean | PendingCheck | null {
    const line = hash.reveal();
    if (scheme === 'sha1') return verify(password, line, scheme);
    // Neither name nor hash can hold a NUL.
    const digest = createHmac('sha256', this.#key).update(`${name}\0${line}\0${password}`).digest('base64');
    if (this.#accepted.get(digest) === true) return true;
    if (this.#refused.get(digest) === true) return false;
    const shared = this.#pending.get(digest) ?? this.#begin(digest, { password, hash: line, scheme });
    return shared === null ? null : this.#join(digest, shared);
  }

  /** Without a thread of its own, for one that serves nobody. */
  checkHere({ password }: Credentials, { hash, scheme }: HtpasswdUser): boolean {
    return verify(password, hash.reveal(), scheme);
  }

  #begin(digest: string, job: HashJob): Shared | null {
    const verdict = this.#thread.check(job);
    if (verdict === null) return null;
    const shared: Shared = { verdict, job, waiting: 0 };
    this.#pending.set(digest, shared);
    void this.#remember(digest, verdict);
    return shared;
  }

  /** A check that broke is asked again by the next one; those that wait for it see the failure themselves. */
  async #remember(digest: string, verdict: Promise<boolean>): Promise<void> {
    try {
      const cache = (await verdict) ? this.#accepted : this.#refused;
      cache.set(digest, true);
    } catch {
      // Told by those that wait.
    }
    this.#pending.delete(digest);
  }

  #join(digest: string, shared: Shared): PendingCheck {
    shared.waiting += 1;
    return {
      verdict: shared.verdict,
      leave: () => {
        shared.waiting -= 1;
        if (shared.waiting > 0 || !this.#thread.forget(shared.job)) return;
        this.#pending.delete(digest);
      },
    };
  }
}
