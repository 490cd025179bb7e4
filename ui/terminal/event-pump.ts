/** How long events are gathered before they are shown together: one frame. */
const BATCH_MS = 30;

export interface PumpListener<T> {
  readonly onBatch: (items: readonly T[]) => void;
  /** The source is over; `error` when it broke. Not called after `stop`. */
  readonly onEnd: (error: unknown) => void;
}

/** Reads a source to its end and hands over what came within a frame in one batch. Returns the function that stops it. */
export function pump<T>(source: AsyncIterable<T>, listener: PumpListener<T>): () => void {
  const iterator = source[Symbol.asyncIterator]();
  const life = { stopped: false };
  let batch: T[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const items = batch;
    batch = [];
    if (items.length > 0 && !life.stopped) listener.onBatch(items);
  };
  const read = async (): Promise<void> => {
    for (let next = await iterator.next(); next.done !== true && !life.stopped; next = await iterator.next()) {
      batch.push(next.value);
      timer ??= setTimeout(flush, BATCH_MS);
    }
  };
  const end = (error: unknown): void => {
    flush();
    if (!life.stopped) listener.onEnd(error);
  };
  read().then(() => end(undefined), end);
  return () => {
    life.stopped = true;
    clearTimeout(timer);
    /* A generator that waits for its next event answers later or never; nobody waits for it. */
    iterator.return?.().catch(() => undefined);
  };
}
