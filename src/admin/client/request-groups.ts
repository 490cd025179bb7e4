import type { TraceFrame } from './trace-frames.ts';

/** How long events may still arrive behind `requestFinished`: sub-calls and bodies can end after it. */
const QUIET_MS = 120;

export type Frames = AsyncIterable<TraceFrame>;

/**
 * Cuts a stream of events into requests, by request id where there is one. A request is complete when it finished and
 * nothing more came for a moment, or when the stream ends; then what is unfinished is delivered too.
 */
export async function* groupRequests(frames: Frames): AsyncGenerator<readonly TraceFrame[]> {
  const open = new OpenRequests();
  const source = frames[Symbol.asyncIterator]();
  let next = source.next();
  try {
    for (;;) {
      const due = open.msUntilDue();
      const result = due === undefined ? await next : await Promise.race([next, pause(due)]);
      yield* open.takeDue();
      if (result === undefined) continue;
      if (result.done === true) break;
      yield* open.add(result.value);
      next = source.next();
    }
    yield* open.takeAll();
  } catch (error) {
    yield* open.takeAll();
    throw error;
  } finally {
    abandon(source, next);
  }
}

/** Only the events of the request that `isOwn` knows; it says undefined as long as it cannot tell. Ends with that request. */
export async function* ownFrames(
  frames: Frames,
  isOwn: (frame: TraceFrame) => boolean | undefined,
): AsyncGenerator<TraceFrame> {
  const waiting = new Map<string, TraceFrame[]>();
  const foreign = new Set<string>();
  const source = frames[Symbol.asyncIterator]();
  let own: string | undefined;
  let finished = false;
  let next = source.next();
  try {
    for (;;) {
      const result: IteratorResult<TraceFrame> | undefined = finished
        ? await Promise.race([next, pause(QUIET_MS)])
        : await next;
      if (result === undefined || result.done === true) return;
      next = source.next();
      const frame: TraceFrame = result.value;
      const id: string = frame.event.requestId ?? '';
      // Without ids a start begins another request.
      if (frame.event.message.type === 'requestStarted') foreign.delete(id);
      if (foreign.has(id)) continue;
      if (own === undefined) {
        const held = [...(waiting.get(id) ?? []), frame];
        waiting.set(id, held);
        const verdict = isOwn(frame);
        if (verdict === false) {
          foreign.add(id);
          waiting.delete(id);
        }
        if (verdict !== true) continue;
        own = id;
        yield* held;
      } else if (id === own) yield frame;
      finished ||= id === own && isFinish(frame);
    }
  } finally {
    abandon(source, next);
  }
}

/** Hands every frame to `see` on its way. */
export async function* tapFrames(
  frames: Frames,
  see: (frame: TraceFrame) => Promise<void> | void,
): AsyncGenerator<TraceFrame> {
  for await (const frame of frames) {
    await see(frame);
    yield frame;
  }
}

interface OpenRequest {
  readonly frames: TraceFrame[];
  dueAt: number | undefined;
}

class OpenRequests {
  readonly #open = new Map<string, OpenRequest>();

  /** Without ids a `requestStarted` begins the next request. */
  *add(frame: TraceFrame): Generator<readonly TraceFrame[]> {
    const id = frame.event.requestId ?? '';
    const before = this.#open.get(id);
    if (before !== undefined && id === '' && frame.event.message.type === 'requestStarted') {
      this.#open.delete(id);
      yield before.frames;
    }
    const request = this.#open.get(id) ?? { frames: [], dueAt: undefined };
    this.#open.set(id, request);
    request.frames.push(frame);
    if (isFinish(frame) || request.dueAt !== undefined) request.dueAt = performance.now() + QUIET_MS;
  }

  msUntilDue(): number | undefined {
    const times = [...this.#open.values()].flatMap((request) => request.dueAt ?? []);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - performance.now());
  }

  *takeDue(): Generator<readonly TraceFrame[]> {
    const now = performance.now();
    for (const [id, request] of this.#open) {
      if (request.dueAt === undefined || request.dueAt > now) continue;
      this.#open.delete(id);
      yield request.frames;
    }
  }

  *takeAll(): Generator<readonly TraceFrame[]> {
    const all = [...this.#open.values()];
    this.#open.clear();
    for (const request of all) yield request.frames;
  }
}

/** A pending read ends when the owner closes the stream; waiting for it here would wait for the next event. */
function abandon(source: AsyncIterator<TraceFrame>, next: Promise<unknown>): void {
  next.catch(() => {
    // The reader has left; what the closing stream says is for nobody.
  });
  source.return?.().catch(() => {
    // As above.
  });
}

/** The end of the request itself, not of a call made for it. */
function isFinish({ event }: TraceFrame): boolean {
  return event.message.type === 'requestFinished' && !(event.scope ?? []).some((name) => name !== 'http');
}

async function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
}
