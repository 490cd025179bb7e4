import type { Body } from './body.ts';
import { BufferedBody } from './body.ts';
import { HoldingBody } from './holding-body.ts';

export type Collected =
  | { readonly kind: 'whole'; readonly body: BufferedBody }
  /** More than the limit: what was read, then the rest of the stream. */
  | { readonly kind: 'overflow'; readonly rest: Body }
  | { readonly kind: 'failed'; readonly error: Error };

/** Something that can end a wait, for those to whom an `AbortSignal` costs more than what is waited for. */
export interface GivingUp {
  /** Calls the listener when it ends, at once when it has ended; what it returns takes the listener back. */
  onGivenUp(listener: (reason: Error) => void): () => void;
}

/**
 * Reads a body into memory, at most `limitBytes` (and the chunk that exceeds it); the source is paused on overflow.
 * Giving up cancels the body and gives `failed` with the reason.
 */
export function collect(
  body: Body,
  limitBytes: number,
  stop: AbortSignal | GivingUp | null = null,
): Promise<Collected> {
  const known = body instanceof BufferedBody ? body.bytes.byteLength : (body.length ?? 0);
  if (known > limitBytes) return Promise.resolve({ kind: 'overflow', rest: body });
  if (body instanceof BufferedBody) return Promise.resolve({ kind: 'whole', body });
  return new Promise((resolve) => {
    let decided = false;
    let unlisten: (() => void) | null = null;
    const finish = (collected: Collected): void => {
      decided = true;
      unlisten?.();
      resolve(collected);
    };
    const holding = new HoldingBody(body, [], () => {
      if (decided) return;
      const collected = outcomeOf(holding, limitBytes);
      if (collected === null) return;
      if (collected.kind === 'overflow' && !holding.ended) body.pause();
      finish(collected);
    });
    unlisten = listen(stop, (error) => {
      if (decided) return;
      holding.cancel();
      finish({ kind: 'failed', error });
    });
    if (!decided) body.pipe(holding);
  });
}

function listen(stop: AbortSignal | GivingUp | null, listener: (reason: Error) => void): (() => void) | null {
  if (stop === null) return null;
  if ('onGivenUp' in stop) return stop.onGivenUp(listener);
  const onAbort = (): void => listener(reasonOf(stop));
  if (stop.aborted) onAbort();
  else stop.addEventListener('abort', onAbort, { once: true });
  return () => stop.removeEventListener('abort', onAbort);
}

function outcomeOf(holding: HoldingBody, limitBytes: number): Collected | null {
  if (holding.error !== null) return { kind: 'failed', error: holding.error };
  if (holding.heldBytes > limitBytes) return { kind: 'overflow', rest: holding };
  if (!holding.ended) return null;
  return { kind: 'whole', body: new BufferedBody(joinChunks(holding.held), holding.trailers) };
}

/** One piece of memory; a single chunk is not copied. */
export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}
