const CONTINUATION = 0;
const TEXT = 1;

/** What comes out of the frames of one side. */
export interface FrameSink {
  /** A whole text, and the frames that it came in. */
  text(text: string, frames: Buffer): void;
  /** A frame that is no part of a text. */
  other(frame: Buffer): void;
}

/** The frames cannot be read, or are larger than what is held. */
class FrameFault extends Error {
  override readonly name = 'FrameFault';
}

/** Cuts the bytes of one side of a WebSocket (RFC 6455 section 5) into messages. Throws a `FrameFault`. */
export class FrameReader {
  readonly #sink: FrameSink;
  readonly #limitBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  /** Frames and payloads of a text that has not ended. */
  #frames: Buffer[] = [];
  #payloads: Buffer[] = [];
  #bytes = 0;

  constructor(sink: FrameSink, limitBytes: number) {
    this.#sink = sink;
    this.#limitBytes = limitBytes;
  }

  push(chunk: Buffer): void {
    let rest = this.#rest.byteLength === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let head = headOf(rest); head !== null; head = headOf(rest)) {
      if (head.length + this.#bytes > this.#limitBytes) throw new FrameFault('a message is too large');
      const end = head.size + head.length;
      if (rest.byteLength < end) break;
      this.#frame(head, rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    this.#rest = rest;
  }

  #frame({ opcode, final, mask, size }: FrameHead, frame: Buffer): void {
    const ofText = opcode === TEXT || (opcode === CONTINUATION && this.#frames.length > 0);
    if (!ofText) {
      this.#sink.other(frame);
      return;
    }
    this.#frames.push(frame);
    const payload = unmasked(frame.subarray(size), mask);
    this.#payloads.push(payload);
    this.#bytes += payload.byteLength;
    if (!final) return;
    const text = Buffer.concat(this.#payloads).toString('utf8');
    const frames = Buffer.concat(this.#frames);
    this.#frames = [];
    this.#payloads = [];
    this.#bytes = 0;
    this.#sink.text(text, frames);
  }
}

interface FrameHead {
  readonly opcode: number;
  readonly final: boolean;
  readonly mask: Buffer | null;
  /** Bytes of the head, the mask included. */
  readonly size: number;
  /** Bytes of the payload. */
  readonly length: number;
}

/** Null while it is not whole. */
function headOf(bytes: Buffer): FrameHead | null {
  if (bytes.byteLength < 2) return null;
  const [first = 0, second = 0] = bytes;
  // Compression is never agreed on where texts are looked at.
  if ((first & 0x70) !== 0) throw new FrameFault('a frame uses an extension');
  const short = second & 0x7f;
  const before = short === 126 ? 4 : short === 127 ? 10 : 2;
  const size = before + ((second & 0x80) === 0 ? 0 : 4);
  if (bytes.byteLength < size) return null;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  const mask = size === before ? null : bytes.subarray(before, size);
  return { opcode: first & 0x0f, final: (first & 0x80) !== 0, mask, size, length };
}

function unmasked(payload: Buffer, mask: Buffer | null): Buffer {
  if (mask === null) return payload;
  const out = Buffer.allocUnsafe(payload.byteLength);
  for (let i = 0; i < payload.byteLength; i++) out[i] = (payload[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return out;
}

/** A text in one frame. Those of clients have to be masked; with zeros the payload stays as it is. */
export function textFrame(text: string, from: 'client' | 'server'): Buffer {
  const payload = Buffer.from(text);
  const length = payload.byteLength;
  const masked = from === 'client';
  const before = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.alloc(before + (masked ? 4 : 0) + length);
  frame[0] = 0x80 | TEXT;
  frame[1] = (masked ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (before === 4) frame.writeUInt16BE(length, 2);
  else if (before === 10) frame.writeBigUInt64BE(BigInt(length), 2);
  payload.copy(frame, frame.byteLength - length);
  return frame;
}
