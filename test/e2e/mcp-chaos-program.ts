/** The same as a program; its first argument tells it from those of other tests. */
import { createInterface } from 'node:readline';

import { misbehave, type Wire } from './mcp-chaos-server.ts';

const write = (text: string): void => void process.stdout.write(`${text}\n`);

const wire: Wire = {
  say: (message) => write(JSON.stringify(message)),
  garbage: () => write('this is {"no message'),
  fail: () => process.exit(3),
  die: () => process.exit(4),
};

createInterface({ input: process.stdin }).on('line', (line) =>
  // `as`: of the gateway.
  misbehave(JSON.parse(line) as Parameters<typeof misbehave>[0], wire),
);
