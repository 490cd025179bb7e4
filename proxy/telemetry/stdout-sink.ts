import { write } from 'node:fs';

import { systemCodeOf } from '../../src/shared/errors.ts';
import type { LogSink } from './log-writer.ts';

const RETRY_MS = 10;

/** Writes to a file descriptor without blocking the event loop, whatever it is: a terminal, a pipe, a file. */
export function descriptorSink(descriptor: number): LogSink {
  return { write: (text) => writeAll(descriptor, Buffer.from(text)) };
}

async function writeAll(descriptor: number, bytes: Buffer): Promise<void> {
  let rest = bytes;
  while (rest.byteLength > 0) {
    const written = await writeSome(descriptor, rest);
    if (written === 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    rest = rest.subarray(written);
  }
}

/** 0 when a non-blocking descriptor is full. */
function writeSome(descriptor: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, (error, written) => {
      if (error === null) resolve(written);
      else if (systemCodeOf(error) === 'EAGAIN') resolve(0);
      else reject(error);
    });
  });
}
