import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  deflate,
  gunzip,
  gzip,
  inflate,
  zstdCompress,
  zstdDecompress,
} from 'node:zlib';
import type { Transform } from 'node:stream';

import type { Headers } from '../../exchange/headers.ts';

interface Coding {
  readonly decode: (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;
  readonly encode: (bytes: Uint8Array) => Promise<Uint8Array>;
  readonly decoder: () => Transform;
}

const codings: Readonly<Record<string, Coding>> = {
  gzip: { decode: promisify(gunzip), encode: promisify(gzip), decoder: createGunzip },
  deflate: { decode: promisify(inflate), encode: promisify(deflate), decoder: createInflate },
  br: { decode: promisify(brotliDecompress), encode: promisify(brotliCompress), decoder: createBrotliDecompress },
  zstd: { decode: promisify(zstdDecompress), encode: promisify(zstdCompress), decoder: createZstdDecompress },
};

/** How a message is compressed: one coding, or null for none. `undefined`: one that is not known, or several. */
export function codingOf(headers: Headers): string | null | undefined {
  const value = headers.get('content-encoding')?.trim().toLowerCase();
  if (value === undefined || value === '' || value === 'identity') return null;
  const name = value === 'x-gzip' ? 'gzip' : value;
  return Object.hasOwn(codings, name) ? name : undefined;
}

/** Throws `ERR_BUFFER_TOO_LARGE` beyond the limit, and whatever broken data brings. */
export function decoded(bytes: Uint8Array, coding: string, limitBytes: number): Promise<Uint8Array> {
  return of(coding).decode(bytes, { maxOutputLength: limitBytes });
}

export function encoded(bytes: Uint8Array, coding: string): Promise<Uint8Array> {
  return of(coding).encode(bytes);
}

/** For a body that comes in pieces. */
export function decoderOf(coding: string): Transform {
  return of(coding).decoder();
}

function of(name: string): Coding {
  const coding = codings[name];
  if (coding === undefined) throw new Error(`${name} is no coding`);
  return coding;
}
