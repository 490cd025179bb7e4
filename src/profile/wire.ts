import { ProfileError } from './profile-error.ts';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
const TWO_32 = 2 ** 32;

/** One field of a protocol-buffers message: a number (as a signed 64-bit integer) or bytes. */
export interface Field {
  readonly number: number;
  readonly value: number | Uint8Array;
}

/**
 * The fields of a message in their order (protobuf.dev, "Encoding"). Unlike pprof-format's reader it refuses what is cut or is no
 * message at all, where that one returns an empty profile.
 */
export function* fieldsOf(message: Uint8Array): Generator<Field, void> {
  const reader = new Reader(message);
  while (!reader.atEnd()) {
    const tag = reader.varint();
    const number = Math.floor(tag / 8);
    if (number < 1) throw invalid('a field has no number');
    yield { number, value: reader.value(tag % 8) };
  }
}

/** The numbers of a repeated field, which may be packed into bytes. */
export function numbersOf(value: number | Uint8Array): readonly number[] {
  if (typeof value === 'number') return [value];
  const reader = new Reader(value);
  const numbers: number[] = [];
  while (!reader.atEnd()) numbers.push(reader.varint());
  return numbers;
}

export function numberOf(value: number | Uint8Array): number {
  if (typeof value === 'number') return value;
  throw invalid('bytes stand where a number is expected');
}

export function bytesOf(value: number | Uint8Array): Uint8Array {
  if (typeof value !== 'number') return value;
  throw invalid('a number stands where a message is expected');
}

function invalid(what: string): ProfileError {
  return new ProfileError('GW_PROFILE_INVALID', `not a pprof profile: ${what}`);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  value(wireType: number): number | Uint8Array {
    switch (wireType) {
      case VARINT:
        return this.varint();
      case BYTES:
        return this.#take(this.varint());
      case FIXED64:
        return this.#take(8);
      case FIXED32:
        return this.#take(4);
      default:
        throw invalid(`wire type ${wireType} does not exist`);
    }
  }

  /** Seven bits a byte, lowest first, at most ten bytes; two's complement of 64 bits. */
  varint(): number {
    let low = 0;
    let high = 0;
    for (let index = 0; index < 10; index += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined)
        throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off in the middle of a number');
      this.#at += 1;
      const bits = byte & 0x7f;
      if (index < 4) low += bits * 2 ** (7 * index);
      else if (index === 4) {
        low += (bits & 0x0f) * 2 ** 28;
        high = bits >> 4;
      } else high += bits * 2 ** (7 * index - 32);
      if (byte < 0x80) return toSigned(high % TWO_32, low);
    }
    throw invalid('a number is longer than ten bytes');
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) {
      throw new ProfileError('GW_PROFILE_CUT', 'the profile is cut off: a part of it is announced but not there');
    }
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function toSigned(high: number, low: number): number {
  return (high >= TWO_32 / 2 ? high - TWO_32 : high) * TWO_32 + low;
}
