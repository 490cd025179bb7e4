import type { Http2Stream } from 'node:http2';
import { Readable } from 'node:stream';

const broken = new Error('the stream was cut');
const aborted = abortError();

/**
 * Cuts a stream with INTERNAL_ERROR. `stream.close(code)` will not do: it ends the writable side first, and when nothing
 * waits to be written that puts END_STREAM in front of the reset: the peer takes a part for the whole.
 */
export function breakStream(stream: Http2Stream): void {
  if (!stream.destroyed && !stream.closed) stream.destroy(broken);
}

/** Cuts a stream with CANCEL, nothing before it. */
export function cancelStream(stream: Http2Stream): void {
  if (!stream.destroyed && !stream.closed) stream.destroy(aborted);
}

/** Destroying a stream with this error, and no other, sends CANCEL; its class is not exported by the platform. */
function abortError(): Error {
  const stream = new Readable({ signal: AbortSignal.abort(), read() {} });
  stream.on('error', () => {});
  return stream.errored ?? broken;
}
