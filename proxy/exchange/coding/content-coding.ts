import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib';
import type { Transform } from 'node:stream';

import type { Headers } from '../headers.ts';

interface Coding {
  readonly decode: (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;
  readonly decoder: () => Transform;
}

const codings: Readonly<Record<string, Coding>> = {
  gzip: { decode: promisify(gunzip), decoder: createGunzip },
  'x-gzip': { decode: promisify(gunzip), decoder: createGunzip },
  deflate: { decode: promisify(inflate), decoder: createInflate },
  br: { decode: promisify(brotliDecompress), decoder: createBrotliDecompress },
  zstd: { decode: promisify(zstdDecompress), decoder: createZstdDecompress },
};

/** More than anybody has a reason for; each costs a body of the limit. */
const MAX_CODINGS = 3;

/** The codings of a message in the order in which they were applied (RFC 9110 section 8.4); each is known. */
export type Codings = readonly string[];

/** How a message is compressed; null for not at all. `undefined`: in a way that is not known, or in too many. */
export function codingOf(headers: Headers): Codings | null | undefined {
  const value = headers.get('content-encoding');
  if (value === undefined) return null;
  const names = value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0) return null;
  return names.length <= MAX_CODINGS && names.every((name) => Object.hasOwn(codings, name)) ? names : undefined;
}

/** Throws `ERR_BUFFER_TOO_LARGE` beyond the limit, and whatever broken data brings. */
export async function decoded(bytes: Uint8Array, applied: Codings, limitBytes: number): Promise<Uint8Array> {
  let plain = bytes;
  for (const name of applied.toReversed()) plain = await of(name).decode(plain, { maxOutputLength: limitBytes });
  return plain;
}

/** For a body that comes in pieces: one after the other, the coding that was applied last being the first. */
export function decodersOf(applied: Codings): readonly Transform[] {
  return applied.toReversed().map((name) => of(name).decoder());
}

function of(name: string): Coding {
  const coding = codings[name];
  if (coding === undefined) throw new Error(`${name} is no coding`);
  return coding;
}
