import { errorKinds, field, header, RowMemory, type EndpointErrorKind } from './endpoint-rows.ts';

/** Live numbers of one endpoint, as dumps and `gwctl proxy config backends` show them. */
export interface EndpointInfo {
  readonly health: number;
  /** Seconds */
  readonly requestLatency: number;
  readonly pendingRequests: number;
  readonly totalRequests: number;
  readonly consecutiveFailures: number;
  readonly timesEjected: number;
  /** Epoch milliseconds; null while the endpoint takes traffic. */
  readonly evictedUntil: number | null;
  readonly totalFailures: number;
  readonly totalEvictions: number;
  readonly lastError: { readonly kind: EndpointErrorKind; readonly at: number } | null;
}

/** What calls of a language model have used, since the start of the replica. */
export interface EndpointSpending {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Trillionths of a dollar. */
  readonly cost: bigint;
}

/** What a data thread reads and writes of the endpoints' shared state. Rows come from the control thread. */
export class EndpointView {
  readonly #memory: RowMemory;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new RowMemory(memory);
  }

  started(row: number): void {
    const memory = this.#memory;
    memory.add(row, field.pending, 1);
    // The low word wraps after four billion requests.
    if (memory.add(row, field.requestsLow, 1) === -1) memory.add(row, field.requestsHigh, 1);
  }

  /** The call ended, and nothing is said about its outcome (the client left). */
  abandoned(row: number): void {
    this.#memory.add(row, field.pending, -1);
  }

  succeeded(row: number, latencySeconds: number): void {
    const memory = this.#memory;
    memory.add(row, field.pending, -1);
    memory.average(row, field.latency, latencySeconds);
    memory.average(row, field.health, 1);
    if (memory.load(row, field.consecutiveFailures) !== 0) memory.store(row, field.consecutiveFailures, 0);
    if (memory.load(row, field.timesEjected) !== 0) memory.store(row, field.timesEjected, 0);
  }

  failed(row: number, kind: EndpointErrorKind, nowMs: number): FailureState {
    const memory = this.#memory;
    memory.add(row, field.pending, -1);
    memory.add(row, field.failures, 1);
    memory.store(row, field.lastErrorKind, errorKinds.indexOf(kind));
    memory.storeTime(row, field.lastErrorAt, nowMs);
    const healthBefore = memory.loadFloat(row, field.health);
    memory.average(row, field.health, 0);
    return { healthBefore, consecutiveFailures: memory.add(row, field.consecutiveFailures, 1) + 1 };
  }

  spent(row: number, { inputTokens, outputTokens, cost }: EndpointSpending): void {
    const memory = this.#memory;
    memory.addLong(row, field.inputTokens, BigInt(inputTokens));
    memory.addLong(row, field.outputTokens, BigInt(outputTokens));
    if (cost !== 0n) memory.addLong(row, field.cost, cost);
  }

  spending(row: number): EndpointSpending {
    const memory = this.#memory;
    return {
      inputTokens: Number(memory.loadLong(row, field.inputTokens)),
      outputTokens: Number(memory.loadLong(row, field.outputTokens)),
      cost: memory.loadLong(row, field.cost),
    };
  }

  /** Takes the endpoint out for `baseMs` × (ejections so far + 1). Tells whether it did: an eviction is not extended. */
  evict(row: number, baseMs: number, nowMs: number): boolean {
    const memory = this.#memory;
    if (Atomics.compareExchange(memory.words, memory.at(row, field.evicted), 0, 2) !== 0) return false;
    const ejections = memory.add(row, field.timesEjected, 1) + 1;
    memory.add(row, field.evictions, 1);
    memory.storeTime(row, field.evictedUntil, nowMs + baseMs * ejections);
    memory.store(row, field.evicted, 1);
    Atomics.add(memory.words, header.evictedRows, 1);
    return true;
  }

  /** False means that no endpoint of the whole replica is evicted. */
  someEvicted(): boolean {
    return Atomics.load(this.#memory.words, header.evictedRows) > 0;
  }

  /** Also ends an eviction whose time has come; `restoreHealth` is then the endpoint's health. */
  isEvicted(row: number, nowMs: number, restoreHealth: number | undefined): boolean {
    const memory = this.#memory;
    const state = memory.load(row, field.evicted);
    if (state === 0) return false;
    if (state === 2 || nowMs < memory.loadTime(row, field.evictedUntil)) return true;
    if (Atomics.compareExchange(memory.words, memory.at(row, field.evicted), 1, 0) === 1) {
      Atomics.sub(memory.words, header.evictedRows, 1);
      if (restoreHealth !== undefined) memory.storeFloat(row, field.health, restoreHealth);
    }
    return false;
  }

  /** health / (1 + latency · (1 + pending / 10)): higher is better. */
  score(row: number): number {
    const memory = this.#memory;
    const latency = memory.loadFloat(row, field.latency);
    return memory.loadFloat(row, field.health) / (1 + latency * (1 + 0.1 * memory.load(row, field.pending)));
  }

  describe(row: number, nowMs: number): EndpointInfo {
    const memory = this.#memory;
    const until = memory.load(row, field.evicted) === 0 ? 0 : memory.loadTime(row, field.evictedUntil);
    const kind = errorKinds[memory.load(row, field.lastErrorKind)] ?? 'none';
    return {
      health: rounded(memory.loadFloat(row, field.health)),
      requestLatency: rounded(memory.loadFloat(row, field.latency)),
      pendingRequests: memory.load(row, field.pending),
      totalRequests:
        (memory.load(row, field.requestsHigh) >>> 0) * 2 ** 32 + (memory.load(row, field.requestsLow) >>> 0),
      consecutiveFailures: memory.load(row, field.consecutiveFailures),
      timesEjected: memory.load(row, field.timesEjected),
      evictedUntil: until > nowMs ? until : null,
      totalFailures: memory.load(row, field.failures) >>> 0,
      totalEvictions: memory.load(row, field.evictions) >>> 0,
      lastError: kind === 'none' ? null : { kind, at: memory.loadTime(row, field.lastErrorAt) },
    };
  }
}

/** What decides about an eviction. */
export interface FailureState {
  /** Before this failure was recorded. */
  readonly healthBefore: number;
  /** This failure included. */
  readonly consecutiveFailures: number;
}

/** Hides that averages are kept in single precision. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
