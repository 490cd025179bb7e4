import { isIP } from 'node:net';

import type { DnsLookupFamily } from '../../src/config/ir/index.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { UpstreamError } from './upstream.ts';

export interface AddressRecord {
  readonly address: string;
  readonly ttlSeconds: number;
}

/** Where names are looked up; `dns-sources.ts` has the system's. Answers without records are empty lists. */
export interface DnsSources {
  /** Addresses that the hosts file gives to a lower-case name. */
  hostsFile(host: string): Promise<readonly string[]>;
  records(host: string, family: 4 | 6): Promise<readonly AddressRecord[]>;
  /** The operating system's own way: search domains, mDNS, `localhost`. */
  system(host: string): Promise<readonly string[]>;
}

export interface ResolverOptions {
  readonly lookupFamily: DnsLookupFamily;
  readonly enableIpv6: boolean;
  readonly sources: DnsSources;
  /** Milliseconds; any monotonic clock. */
  readonly now?: (() => number) | undefined;
}

export interface Resolver {
  /** At least one address, in the order to try them; rejects with an `UpstreamError` of kind `dns`. */
  resolve(host: string): Promise<readonly string[]>;
}

const MIN_TTL_MS = 1000;
const MAX_TTL_MS = 300_000;
/** For answers that carry no lifetime (hosts file, operating system). */
const DEFAULT_TTL_MS = 10_000;
const NEGATIVE_TTL_MS = 2000;
/** Old addresses are still used for this long while their refresh fails. */
const STALE_MS = 600_000;
const MAX_ENTRIES = 4096;

interface Entry {
  addresses: readonly string[];
  error: UpstreamError | null;
  expiresAt: number;
  staleUntil: number;
  /** Where the next dial begins, so that connections spread over the addresses. */
  turn: number;
  refreshing: Promise<void> | null;
}

interface Answer {
  readonly addresses: readonly string[];
  readonly ttlMs: number;
}

/** Resolves names with a cache that follows the records' lifetimes; concurrent questions for a name are one. */
export class CachingResolver implements Resolver {
  readonly #options: ResolverOptions;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async resolve(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    const entry = this.#entry(host.toLowerCase().replace(/\.$/, ''));
    if (entry.refreshing !== null) await entry.refreshing;
    if (entry.error !== null) throw entry.error;
    return nextTurn(entry);
  }

  #entry(name: string): Entry {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = { addresses: [], error: null, expiresAt: -1, staleUntil: -1, turn: 0, refreshing: null };
      this.#admit(name, entry);
    }
    if (entry.refreshing === null && this.#now() >= entry.expiresAt) entry.refreshing = this.#refresh(name, entry);
    return entry;
  }

  /** Names can come from requests (dynamic backends): the oldest makes room. */
  #admit(name: string, entry: Entry): void {
    if (this.#entries.size >= MAX_ENTRIES) {
      const oldest = this.#entries.keys().next();
      if (oldest.done !== true) this.#entries.delete(oldest.value);
    }
    this.#entries.set(name, entry);
  }

  async #refresh(name: string, entry: Entry): Promise<void> {
    try {
      const answer = await this.#ask(name);
      if (answer.addresses.length === 0) throw new Error(`no addresses for ${name}`);
      const now = this.#now();
      entry.addresses = answer.addresses;
      entry.error = null;
      entry.expiresAt = now + Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, answer.ttlMs));
      entry.staleUntil = entry.expiresAt + STALE_MS;
    } catch (error) {
      const now = this.#now();
      entry.expiresAt = now + NEGATIVE_TTL_MS;
      if (entry.addresses.length === 0 || now >= entry.staleUntil) {
        entry.addresses = [];
        entry.error = new UpstreamError('dns', `cannot resolve ${name}: ${messageOf(error)}`, { cause: error });
      }
    } finally {
      entry.refreshing = null;
    }
  }

  async #ask(name: string): Promise<Answer> {
    const { sources } = this.#options;
    const fixed = this.#chosen(await sources.hostsFile(name));
    if (fixed.length > 0) return { addresses: fixed, ttlMs: DEFAULT_TTL_MS };
    // A single label is the search domains' business, which only the operating system knows.
    const answer = name.includes('.') && !name.endsWith('.local') ? await this.#askRecords(name) : null;
    if (answer !== null) return answer;
    return { addresses: this.#chosen(await sources.system(name)), ttlMs: DEFAULT_TTL_MS };
  }

  async #askRecords(name: string): Promise<Answer | null> {
    const { sources } = this.#options;
    const families = this.#families();
    const answers = await Promise.allSettled(families.map((family) => sources.records(name, family)));
    const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const addresses = this.#chosen(records.map((record) => record.address));
    if (addresses.length === 0) return null;
    return { addresses, ttlMs: Math.min(...records.map((record) => record.ttlSeconds)) * 1000 };
  }

  #families(): readonly (4 | 6)[] {
    const policy = this.#policy();
    if (policy === 'V4Only') return [4];
    return policy === 'V6Only' ? [6] : [4, 6];
  }

  #policy(): Exclude<DnsLookupFamily, 'Auto'> {
    const { lookupFamily, enableIpv6 } = this.#options;
    if (lookupFamily !== 'Auto') return lookupFamily;
    return enableIpv6 ? 'V4Preferred' : 'V4Only';
  }

  #chosen(addresses: readonly string[]): readonly string[] {
    const v4 = addresses.filter((address) => isIP(address) === 4);
    const v6 = addresses.filter((address) => isIP(address) === 6);
    switch (this.#policy()) {
      case 'V4Only':
        return v4;
      case 'V6Only':
        return v6;
      case 'V4Preferred':
        return v4.length > 0 ? v4 : v6;
      case 'All':
        return alternating(v6, v4);
    }
  }
}

/** The addresses, beginning one further at each call. */
function nextTurn(entry: Entry): readonly string[] {
  const { addresses } = entry;
  if (addresses.length < 2) return addresses;
  const from = entry.turn % addresses.length;
  entry.turn = from + 1;
  return [...addresses.slice(from), ...addresses.slice(0, from)];
}

/** Families in turn, so that a dead one costs one delay and not one for each of its addresses. */
function alternating(first: readonly string[], second: readonly string[]): string[] {
  const merged: string[] = [];
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    const [a, b] = [first[i], second[i]];
    if (a !== undefined) merged.push(a);
    if (b !== undefined) merged.push(b);
  }
  return merged;
}
