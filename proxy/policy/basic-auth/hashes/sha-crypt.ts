import { hash } from 'node:crypto';

import { cryptDigits } from './crypt-base64.ts';

const DEFAULT_ROUNDS = 5000;
const FEWEST_ROUNDS = 1000;

interface Variant {
  readonly algorithm: 'sha256' | 'sha512';
  /** Bytes are written in threes, this far apart; as many threes as that. */
  readonly stride: number;
  /** From the first byte of one three to that of the next. */
  readonly step: number;
  /** The last bytes, which make no three. */
  readonly rest: readonly number[];
  readonly restDigits: number;
}

const SHA256: Variant = { algorithm: 'sha256', stride: 10, step: 21, rest: [31, 30], restDigits: 3 };
const SHA512: Variant = { algorithm: 'sha512', stride: 21, step: 22, rest: [63], restDigits: 2 };

/**
 * The digest part of `$5$` and `$6$` hashes, as "Unix crypt using SHA-256 and SHA-512" defines it. `settings` is the hash up
 * to its last dollar.
 */
export function shaCrypt(password: Buffer, settings: string): string {
  const [, id, first = '', second] = settings.split('$');
  const variant = id === '5' ? SHA256 : SHA512;
  const counted = /^rounds=([0-9]+)$/.exec(first);
  const rounds = counted === null ? DEFAULT_ROUNDS : Math.max(FEWEST_ROUNDS, Number(counted[1]));
  const salt = Buffer.from(counted === null ? first : (second ?? ''), 'utf8').subarray(0, 16);
  return written(stretched({ password, salt, rounds, algorithm: variant.algorithm }), variant);
}

interface Input {
  readonly password: Buffer;
  readonly salt: Buffer;
  readonly rounds: number;
  readonly algorithm: Variant['algorithm'];
}

function stretched({ password, salt, rounds, algorithm }: Input): Buffer {
  const digest = (...parts: readonly Uint8Array[]): Buffer => hash(algorithm, Buffer.concat(parts), 'buffer');
  const start = firstDigest(password, salt, digest);
  const p = repeated(digest(...Array<Buffer>(password.length).fill(password)), password.length);
  const s = repeated(digest(...Array<Buffer>(16 + (start[0] ?? 0)).fill(salt)), salt.length);
  let current = start;
  for (let round = 0; round < rounds; round++) {
    const odd = round % 2 === 1;
    const parts = [odd ? p : current];
    if (round % 3 !== 0) parts.push(s);
    if (round % 7 !== 0) parts.push(p);
    parts.push(odd ? current : p);
    current = digest(...parts);
  }
  return current;
}

function firstDigest(password: Buffer, salt: Buffer, digest: (...parts: readonly Uint8Array[]) => Buffer): Buffer {
  const both = digest(password, salt, password);
  const parts: Buffer[] = [password, salt, repeated(both, password.length)];
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits % 2 === 1 ? both : password);
  return digest(...parts);
}

/** The bytes over and over, up to a length. */
function repeated(bytes: Buffer, length: number): Buffer {
  return Buffer.alloc(length, bytes);
}

function written(digest: Buffer, { stride, step, rest, restDigits }: Variant): string {
  const size = stride * 3;
  let text = '';
  for (let at = 0, threes = 0; threes < stride; threes++, at = (at + step) % size) {
    text += cryptDigits(number(digest, [at, (at + stride) % size, (at + 2 * stride) % size]), 4);
  }
  return text + cryptDigits(number(digest, rest), restDigits);
}

/** Bytes at places as one number, the highest first. */
function number(digest: Buffer, places: readonly number[]): number {
  return places.reduce((sum, place) => (sum << 8) | (digest[place] ?? 0), 0);
}
