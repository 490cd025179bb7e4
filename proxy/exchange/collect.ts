import type { Body } from './body.ts';
import { BufferedBody } from './body.ts';
import { HoldingBody } from './holding-body.ts';

export type Collected =
  | { readonly kind: 'whole'; readonly body: BufferedBody }
  /** More than the limit: what was read, then the rest of the stream. */
  | { readonly kind: 'overflow'; readonly rest: Body }
  | { readonly kind: 'failed'; readonly error: Error };

/**
 * Reads a body into memory, at most `limitBytes` (and the chunk that exceeds it); the source is paused on overflow.
 * Aborting cancels the body and gives `failed` with the signal's reason.
 */
export function collect(body: Body, limitBytes: number, signal: AbortSignal | null = null): Promise<Collected> {
  const known = body instanceof BufferedBody ? body.bytes.byteLength : (body.length ?? 0);
  if (known > limitBytes) return Promise.resolve({ kind: 'overflow', rest: body });
  if (body instanceof BufferedBody) return Promise.resolve({ kind: 'whole', body });
  return new Promise((resolve) => {
    const finish = (collected: Collected): void => {
      signal?.removeEventListener('abort', onAbort);
      resolve(collected);
    };
    let decided = false;
    const holding = new HoldingBody(body, [], () => {
      if (decided) return;
      const collected = outcomeOf(holding, limitBytes);
      if (collected === null) return;
      decided = true;
      if (collected.kind === 'overflow' && !holding.ended) body.pause();
      finish(collected);
    });
    const onAbort = (): void => {
      decided = true;
      holding.cancel();
      finish({ kind: 'failed', error: reasonOf(signal) });
    };
    if (signal?.aborted === true) {
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    body.pipe(holding);
  });
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

function reasonOf(signal: AbortSignal | null): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted');
}
