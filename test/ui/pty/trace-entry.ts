/* Opens the viewer on a recording, as a command would: node --import ./tsx-hooks.js trace-entry.ts FILE [mode]. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { openTraceViewer } from '../../../ui/trace/open.ts';

const [given = '', mode = '', directory = '.'] = process.argv.slice(2);
const file = path.resolve(given);
process.chdir(directory);

function recorded(): TraceEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceEvent);
}

async function* stream(): AsyncGenerator<TraceEvent> {
  yield* recorded();
  if (mode === 'broken') throw new Error('the proxy closed the connection');
  if (mode === 'open') await new Promise(() => setInterval(() => undefined, 60_000));
}

async function resend(): Promise<AsyncIterable<TraceEvent>> {
  return (async function* again(): AsyncGenerator<TraceEvent> {
    for (const event of recorded()) yield { ...event, requestId: `again-${event.requestId ?? ''}` };
  })();
}

if (mode === 'crash') {
  process.stdin.on('data', (data) => {
    if (String(data) === 'C') throw new Error('crashed on purpose');
  });
}

const terminated = new AbortController();
process.on('SIGTERM', () => terminated.abort());
const code = await openTraceViewer({
  title: 'gateway/web',
  events: stream(),
  resend,
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  signal: terminated.signal,
});
process.stdout.write(`left with ${code}\n`, () => process.exit(code));
