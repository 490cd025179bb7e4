import type { Frames } from './request-groups.ts';
import type { TraceFrame } from './trace-frames.ts';

/** Ids that are remembered; a request is over long before so many have begun after it. */
const REMEMBERED = 10_000;

/**
 * Only requests whose beginning was seen. A watcher that comes while requests are under way gets the rest of their events,
 * which would look like requests without a start, a method or a route. Events without an id pass. With `atMost` only the
 * requests that begin first: a reader who wants two gets no piece of a third.
 */
export async function* wholeRequests(frames: Frames, atMost = Infinity): AsyncGenerator<TraceFrame> {
  const begun = new Set<string>();
  let count = 0;
  for await (const frame of frames) {
    const { requestId, startTime, message } = frame.event;
    if (requestId === undefined) {
      yield frame;
      continue;
    }
    const begins = (startTime !== undefined || message.type === 'requestStarted') && !begun.has(requestId);
    if (begins && count < atMost) {
      count += 1;
      remember(begun, requestId);
    }
    if (begun.has(requestId)) yield frame;
  }
}

function remember(begun: Set<string>, id: string): void {
  begun.add(id);
  if (begun.size <= REMEMBERED) return;
  const [oldest] = begun;
  if (oldest !== undefined) begun.delete(oldest);
}
