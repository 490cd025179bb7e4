import { crc32 } from 'node:zlib';

/** Takes the messages of a stream of `application/vnd.amazon.eventstream`. */
export interface FrameSink {
  message(headers: ReadonlyMap<string, string>, payload: Uint8Array): void;
}

/** A frame whose checksums or lengths are wrong, or that is too large: nothing that follows can be trusted. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MIN_FRAME_BYTES = PRELUDE_BYTES + CHECKSUM_BYTES;
const TEXT_HEADER = 7;
/** Bytes of the values of the other types of headers; -1 tells its length by itself. */
const VALUE_BYTES = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];

/**
 * Cuts bytes into messages as they come: total length, length of headers, CRC of both, headers, payload, CRC of all
 * (Amazon Transcribe developer guide, "Event stream encoding"). Throws a `FrameError`.
 */
export class AwsEventStreamDecoder {
  readonly #sink: FrameSink;
  readonly #limitBytes: number;
  #held: Buffer = Buffer.alloc(0);

  constructor(sink: FrameSink, limitBytes: number) {
    this.#sink = sink;
    this.#limitBytes = limitBytes;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let held = this.#held.byteLength === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    this.#held = held;
    while (held.byteLength >= PRELUDE_BYTES) {
      const length = this.#frameLength(held);
      if (held.byteLength < length) break;
      this.#frame(held.subarray(0, length));
      held = held.subarray(length);
    }
    this.#held = held;
  }

  /** No frame has begun that is not whole. */
  get aligned(): boolean {
    return this.#held.byteLength === 0;
  }

  /** Throws when the stream ends inside a frame. */
  end(): void {
    if (this.#held.byteLength > 0) throw new FrameError('the stream ends inside a frame');
  }

  #frameLength(bytes: Buffer): number {
    const length = bytes.readUInt32BE(0);
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8))
      throw new FrameError('the checksum of a prelude is wrong');
    if (length < MIN_FRAME_BYTES || bytes.readUInt32BE(4) > length - MIN_FRAME_BYTES)
      throw new FrameError('the lengths of a frame are wrong');
    if (length > this.#limitBytes) throw new FrameError(`a frame of ${length} bytes is too large`);
    return length;
  }

  #frame(frame: Buffer): void {
    const end = frame.byteLength - CHECKSUM_BYTES;
    if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end))
      throw new FrameError('the checksum of a frame is wrong');
    const payloadAt = PRELUDE_BYTES + frame.readUInt32BE(4);
    this.#sink.message(textHeaders(frame.subarray(PRELUDE_BYTES, payloadAt)), frame.subarray(payloadAt, end));
  }
}

/** A fault as a message: what the clients of AWS throw. */
export function exceptionFrame(type: string, message: string): Uint8Array {
  const headers = Buffer.concat([
    textHeader(':exception-type', type),
    textHeader(':content-type', 'application/json'),
    textHeader(':message-type', 'exception'),
  ]);
  const payload = Buffer.from(JSON.stringify({ message }));
  const frame = Buffer.alloc(MIN_FRAME_BYTES + headers.byteLength + payload.byteLength);
  frame.writeUInt32BE(frame.byteLength, 0);
  frame.writeUInt32BE(headers.byteLength, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, PRELUDE_BYTES);
  payload.copy(frame, PRELUDE_BYTES + headers.byteLength);
  const end = frame.byteLength - CHECKSUM_BYTES;
  frame.writeUInt32BE(crc32(frame.subarray(0, end)), end);
  return frame;
}

function textHeader(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.byteLength);
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(TEXT_HEADER), length, bytes]);
}

/** The headers that are texts; those of other types are passed over. */
function textHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  try {
    while (at < bytes.byteLength) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString('latin1', at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const fixed = VALUE_BYTES[type];
      if (type === TEXT_HEADER) {
        const length = bytes.readUInt16BE(nameEnd + 1);
        headers.set(name, bytes.toString('utf8', nameEnd + 3, nameEnd + 3 + length));
        at = nameEnd + 3 + length;
      } else if (fixed === undefined) throw new FrameError('a header has an unknown type');
      else at = fixed === -1 ? nameEnd + 3 + bytes.readUInt16BE(nameEnd + 1) : nameEnd + 1 + fixed;
    }
  } catch (error) {
    throw error instanceof FrameError ? error : new FrameError('the headers of a frame are cut');
  }
  return headers;
}
