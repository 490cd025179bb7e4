/** The same as a program: it reads and writes a message in each line. */
import { createInterface } from 'node:readline';
import { writeSync } from 'node:fs';

import { behave, type Wire } from './mcp-wild.ts';

const paged = process.argv.includes('paged');

const write = (bytes: string | Buffer): void => {
  const all = Buffer.from(bytes);
  for (let at = 0; at < all.length;) {
    try {
      at += writeSync(1, all, at);
    } catch (error) {
      // The pipe is full: whoever writes like this waits.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
};

const wire: Wire = {
  say: (json) => {
    write(json);
    write('\n');
  },
  raw: write,
  die: () => process.exit(9),
};

createInterface({ input: process.stdin }).on('line', (line) =>
  // `as`: of the gateway.
  behave(JSON.parse(line) as Parameters<typeof behave>[0], wire, paged),
);
