import type { Body } from '../exchange/body.ts';
import { recordedBody } from '../exchange/recording-body.ts';
import type { Recorder } from './recorder.ts';

/** A body that passes through unchanged and is reported, once, when it has ended or was cut. */
export function recordBody(body: Body, trace: Recorder, { stage, limit }: { stage: string; limit: number }): Body {
  const release = trace.hold();
  return recordedBody(body, limit, ({ bytes, truncated }) => {
    emit(bytes, trace, { stage, truncated });
    release();
  });
}

/** Reports a body that is in memory as a whole. */
export function reportBody(
  bytes: Uint8Array,
  trace: Recorder,
  { stage, limit }: { readonly stage: string; readonly limit: number },
): void {
  emit(bytes.subarray(0, limit), trace, { stage, truncated: Math.max(0, bytes.byteLength - limit) });
}

function emit(
  bytes: Uint8Array,
  trace: Recorder,
  { stage, truncated }: { readonly stage: string; readonly truncated: number },
): void {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  trace.emit({ type: 'bodySnapshot', stage, body, ...(truncated > 0 ? { truncated } : {}) });
}
