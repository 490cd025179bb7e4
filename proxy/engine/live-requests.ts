/** A request that has not ended. */
export interface LiveRequest {
  /** Its place in the list; the list's own business. */
  liveAt: number;
  /** Of `performance.now()`. */
  readonly startedAt: number;
  /** One line for a person; `now` is of `performance.now()`. */
  describe(now: number): string;
}

/**
 * The requests that are under way. No `Set`: one that is added to and deleted from moves to a new table every few dozen
 * requests, and an old table keeps what was in it, and the next table, until the old generation is collected. Nearly every
 * request lived that long, which doubled the time that garbage took.
 */
export class LiveRequests {
  readonly #list: LiveRequest[] = [];

  add(request: LiveRequest): void {
    request.liveAt = this.#list.push(request) - 1;
  }

  /** The last one takes its place. */
  delete(request: LiveRequest): void {
    const list = this.#list;
    const { liveAt } = request;
    if (list[liveAt] !== request) return;
    const last = list.pop();
    if (last === undefined || last === request) return;
    list[liveAt] = last;
    last.liveAt = liveAt;
  }

  oldestFirst(): readonly LiveRequest[] {
    return this.#list.toSorted((one, other) => one.startedAt - other.startedAt);
  }
}
