/* Opens the live screen on a recording: node --import ./tsx-hooks.js live-entry.ts FILE [events per batch]. */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { openLiveScreen } from '../../../ui/live/open.ts';

const [file = '', perBatch = '0'] = process.argv.slice(2);

async function* follow(): AsyncGenerator<TraceEvent> {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  for (const [at, line] of lines.entries()) {
    yield JSON.parse(line) as TraceEvent;
    if (Number(perBatch) > 0 && at % Number(perBatch) === 0) await setTimeout(40);
  }
  await new Promise(() => setInterval(() => undefined, 60_000));
}

const terminated = new AbortController();
process.on('SIGTERM', () => terminated.abort());
const code = await openLiveScreen({
  title: 'gwctl demo',
  addresses: ['http://127.0.0.1:8080', 'admin http://127.0.0.1:15000'],
  curls: ['curl http://127.0.0.1:8080/echo', 'curl http://127.0.0.1:8080/slow', 'curl -N http://127.0.0.1:8080/stream'],
  events: follow(),
  resend: async () => undefined,
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  signal: terminated.signal,
});
process.stdout.write(`left with ${code}\n`, () => process.exit(code));
