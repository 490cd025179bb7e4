import { GwError } from '../../src/shared/errors.ts';
import { field, header, HEADER_WORDS, INITIAL_HEALTH, ROW_WORDS, RowMemory } from './endpoint-rows.ts';
import { EndpointView, type EndpointInfo } from './endpoint-view.ts';

/** 4 MiB of address space; pages are only backed once their rows are used. */
const DEFAULT_CAPACITY = 65_536;

interface Held {
  readonly row: number;
  users: number;
}

/**
 * The endpoint state of a replica, owned by the control thread. A row belongs to an identity (who the endpoint is), not
 * to a configuration: a reload that keeps the definition keeps its numbers.
 */
export class EndpointStore {
  /** Handed to the data threads, which see it through an `EndpointView`. */
  readonly buffer: SharedArrayBuffer;
  readonly #memory: RowMemory;
  readonly #view: EndpointView;
  readonly #held = new Map<string, Held>();
  /** Freed rows wait at the end of the line, so that calls still in flight do not write into a new owner's row. */
  readonly #free: number[] = [];
  #next = 0;

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.buffer = new SharedArrayBuffer((HEADER_WORDS + capacity * ROW_WORDS) * Int32Array.BYTES_PER_ELEMENT);
    this.#memory = new RowMemory(this.buffer);
    this.#view = new EndpointView(this.buffer);
  }

  /** The row of an identity, made on first use; `release` gives it back. Throws `GW_TOO_MANY_ENDPOINTS`. */
  acquire(identity: string): number {
    const held = this.#held.get(identity);
    if (held !== undefined) {
      held.users += 1;
      return held.row;
    }
    const row = this.#take();
    this.#reset(row);
    this.#held.set(identity, { row, users: 1 });
    return row;
  }

  /** All or nothing: when the rows do not suffice, none is taken. */
  acquireAll(identities: Iterable<string>): Map<string, number> {
    const rows = new Map<string, number>();
    try {
      for (const identity of identities) if (!rows.has(identity)) rows.set(identity, this.acquire(identity));
    } catch (error) {
      this.releaseAll(rows.keys());
      throw error;
    }
    return rows;
  }

  release(identity: string): void {
    const held = this.#held.get(identity);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#held.delete(identity);
    this.#endEviction(held.row);
    this.#free.push(held.row);
  }

  releaseAll(identities: Iterable<string>): void {
    for (const identity of identities) this.release(identity);
  }

  /** Undefined for an identity that no configuration uses. */
  describe(identity: string, nowMs: number): EndpointInfo | undefined {
    const held = this.#held.get(identity);
    return held === undefined ? undefined : this.#view.describe(held.row, nowMs);
  }

  *entries(nowMs: number): Generator<readonly [identity: string, info: EndpointInfo]> {
    for (const [identity, held] of this.#held) yield [identity, this.#view.describe(held.row, nowMs)];
  }

  #take(): number {
    if (this.#next < this.#memory.rows) {
      this.#next += 1;
      return this.#next - 1;
    }
    const row = this.#free.shift();
    if (row === undefined) {
      throw new GwError(`the configuration has more than ${this.#memory.rows} backend endpoints`, {
        code: 'GW_TOO_MANY_ENDPOINTS',
        hint: 'split the configuration over several gateways',
      });
    }
    return row;
  }

  #reset(row: number): void {
    const memory = this.#memory;
    this.#endEviction(row);
    for (let word = 0; word < ROW_WORDS; word++) memory.store(row, word, 0);
    memory.storeFloat(row, field.health, INITIAL_HEALTH);
  }

  #endEviction(row: number): void {
    const memory = this.#memory;
    const was = Atomics.exchange(memory.words, memory.at(row, field.evicted), 0);
    if (was === 1) Atomics.sub(memory.words, header.evictedRows, 1);
  }
}
