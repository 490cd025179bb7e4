import type { JsonObject, JsonValue } from '../../../src/shared/json.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { outdated } from './route.ts';

/** How long a list is believed while its target tells of changes, and for look-ups of a name while it does not. */
const watchedMs = 10_000;
const recentMs = 2_000;

interface Entry {
  readonly result: JsonObject;
  readonly at: number;
  readonly size: number;
  /** Where it is kept. */
  readonly key: string;
  readonly kept: Map<string, Entry>;
}

/** What all sessions of a backend keep together: the oldest lists go first. Items and KiB of text are one each. */
export class ListBudget {
  readonly #maxSize: number;
  /** In the order in which they came. */
  readonly #entries = new Set<Entry>();
  #size = 0;

  constructor(maxSize = 20_000) {
    this.#maxSize = maxSize;
  }

  keep(entry: Entry): void {
    this.drop(entry.kept.get(entry.key));
    entry.kept.set(entry.key, entry);
    this.#entries.add(entry);
    this.#size += entry.size;
    for (const oldest of this.#entries) {
      if (this.#size <= this.#maxSize) return;
      this.drop(oldest);
    }
  }

  drop(entry: Entry | undefined): void {
    if (entry === undefined || !this.#entries.delete(entry)) return;
    entry.kept.delete(entry.key);
    this.#size -= entry.size;
  }
}

/**
 * Whole lists of the targets of one session, or for clients without one. A list is as good as new while the session hears
 * the target tell of changes; otherwise it serves look-ups by name for a moment only. What one credential has read is not
 * shown to another.
 */
export class ListCache {
  readonly #budget: ListBudget;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #generations = new Map<string, number>();
  readonly #watched = new Map<number, number>();
  readonly #announced = new Set<string>();

  constructor(budget: ListBudget, now: () => number = () => performance.now()) {
    this.#budget = budget;
    this.#now = now;
  }

  /** The result of a list that holds all items; null where the target has to be asked. */
  read(target: number, method: string, exchange: Exchange, use: 'list' | 'look-up'): JsonObject | null {
    const place = placeOf(target, method);
    const entry = this.#entries.get(keyOf(place, exchange));
    if (entry === undefined) return null;
    const watched = this.hears(target, method);
    if (!watched && use === 'list') return null;
    return this.#now() - entry.at < (watched ? watchedMs : recentMs) ? entry.result : null;
  }

  /** The session is told when the list changes. */
  hears(target: number, method: string): boolean {
    return this.#announced.has(placeOf(target, method)) && (this.#watched.get(target) ?? 0) > 0;
  }

  /** Call before a list is asked for; `store` takes it. */
  generation(target: number, method: string): number {
    return this.#generations.get(placeOf(target, method)) ?? 0;
  }

  /** Keeps a list unless it has changed since it was asked for. */
  store(target: number, method: string, exchange: Exchange, list: { result: JsonObject; generation: number }): void {
    if (list.generation !== this.generation(target, method)) return;
    const { result } = list;
    const key = keyOf(placeOf(target, method), exchange);
    this.#budget.keep({ result, at: this.#now(), size: sizeOf(result), key, kept: this.#entries });
  }

  /** The target says with a notification when this list changes. */
  announces(target: number, method: string): void {
    this.#announced.add(placeOf(target, method));
  }

  /** A stream of the target has been opened (1) or has ended (-1). */
  watch(target: number, by: 1 | -1): void {
    this.#watched.set(target, (this.#watched.get(target) ?? 0) + by);
    this.#drop(`${target} `);
  }

  /** The session is over. */
  clear(): void {
    this.#drop('');
  }

  /** A notification of the target; most outdate nothing. */
  heard(target: number, notification: string): void {
    for (const method of outdated(notification)) {
      const place = placeOf(target, method);
      this.#drop(`${place}\n`);
      this.#generations.set(place, this.generation(target, method) + 1);
    }
  }

  #drop(keys: string): void {
    for (const entry of this.#entries.values()) if (entry.key.startsWith(keys)) this.#budget.drop(entry);
  }
}

function sizeOf(result: JsonObject): number {
  let items = 1;
  for (const member of Object.values(result)) if (Array.isArray(member)) items += member.length;
  return items + Math.floor(charactersIn(result) / 1024);
}

/** About as many as it has as JSON. */
function charactersIn(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let characters = 0;
  // Lists have their positions as keys.
  for (const [key, member] of Object.entries(value)) characters += key.length + charactersIn(member);
  return characters;
}

function placeOf(target: number, method: string): string {
  return `${target} ${method}`;
}

/** With the credentials in whose name the target has answered. */
function keyOf(place: string, exchange: Exchange): string {
  const { jwt, apiKey, basicAuth } = exchange.attributes;
  const { headers } = exchange.request;
  const sent = [...headers.getAll('authorization'), ...headers.getAll('cookie')].join(';');
  return [place, sent, jwt?.rawToken.reveal(), apiKey?.key.reveal(), basicAuth?.username].join('\n');
}
