import type { Body } from '../exchange/body.ts';
import { RecordingBody } from '../exchange/recording-body.ts';
import type { Recorder } from './recorder.ts';

/** A body that passes through unchanged and is reported, once, when it has ended or was cut. */
export function recordBody(body: Body, trace: Recorder, { stage, limit }: { stage: string; limit: number }): Body {
  const release = trace.hold();
  return new RecordingBody(body, limit, ({ bytes, truncated }) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    trace.emit({ type: 'bodySnapshot', stage, body: text, ...(truncated > 0 ? { truncated } : {}) });
    release();
  });
}
