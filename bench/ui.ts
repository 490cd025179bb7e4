/**
 * Milliseconds per frame of the trace viewer: an action through the reducer, then React and Ink down to the text of the
 * frame. Run: node --import ./test/ui/pty/tsx-hooks.js bench/ui.ts [events]; a frame may take 33 ms.
 */
import { Writable } from 'node:stream';
import { render } from 'ink';
import { createElement } from 'react';
import type { TraceEvent } from '../src/admin/protocol/trace-event.ts';
import { colourTheme } from '../ui/theme.ts';
import { TraceView } from '../ui/trace/App.tsx';
import { step, type Action } from '../ui/trace/model.ts';
import { initialState, type TraceState } from '../ui/trace/state.ts';

const count = Number(process.argv[2] ?? 5000);
const LIMIT_MS = 33;

class Screen extends Writable {
  readonly isTTY = true;
  readonly columns = 200;
  readonly rows = 50;
  override _write(_chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    done();
  }
}

function events(from: number, to: number): TraceEvent[] {
  return Array.from({ length: to - from }, (_, at) => {
    const index = from + at;
    const request = Math.floor(index / 20);
    const state = {
      request: {
        method: 'GET',
        path: `/商品/${request}`,
        host: 'shop.test',
        headers: { accept: '*/*', 'x-n': String(index) },
      },
    };
    return {
      eventStart: index % 20 === 14 ? 100 : null,
      eventEnd: 50 + (index % 20) * 40,
      severity: index % 20 === 15 ? 'warn' : 'info',
      requestId: `r${request}`,
      message:
        index % 2 === 0
          ? { type: 'requestSnapshot', stage: 'route policies', requestState: state }
          : { type: 'policyEvent', kind: 'retry', details: `step ${index} of a long story` },
    };
  });
}

const screen = new Screen();
process.env['NODE_ENV'] ??= 'production';
let state: TraceState = initialState({ title: 'bench', columns: 200, rows: 50 });
const instance = render(createElement(TraceView, { state, theme: colourTheme }), {
  stdout: screen,
  interactive: true,
  incrementalRendering: true,
  patchConsole: false,
  maxFps: 100_000,
});

function frame(action: Action): number {
  const start = performance.now();
  state = step(state, action).state;
  instance.rerender(createElement(TraceView, { state, theme: colourTheme }));
  return performance.now() - start;
}

const key = (name: string): Action => ({ kind: 'key', key: { name, text: name.length === 1 ? name : '' } });

async function measure(name: string, actions: readonly Action[]): Promise<number> {
  const took: number[] = [];
  for (const action of actions) {
    took.push(frame(action));
    await instance.waitUntilRenderFlush();
  }
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  console.log(
    `${name.padEnd(34)} p50 ${at(0.5).toFixed(1).padStart(6)} ms   p95 ${at(0.95).toFixed(1).padStart(6)} ms   max ${at(1).toFixed(1).padStart(6)} ms`,
  );
  return at(0.95);
}

const repeat = (name: string, times: number): Action[] => Array.from({ length: times }, () => key(name));
const batches = Array.from({ length: Math.ceil(count / 50) }, (_, at): Action => ({
  kind: 'events',
  source: 0,
  events: events(at * 50, at * 50 + 50),
}));

console.log(`${count} events, 200 x 50 cells`);
const results = [
  await measure('first frames (code is still cold)', batches.splice(0, 20)),
  await measure('events arrive, 50 a frame', batches),
  await measure('up, row by row', repeat('k', 100)),
  await measure('page up', repeat('pgup', 50)),
  await measure(
    'first and last',
    Array.from({ length: 20 }, (_, at) => key(at % 2 === 0 ? 'g' : 'G')),
  ),
  await measure('difference, row by row', [key('d'), ...repeat('j', 50)]),
  await measure('waterfall', [key('t'), ...repeat('pgdn', 30)]),
  await measure('filter, letter by letter', [
    key('/'),
    ...[...'step 49'].map(key),
    ...repeat('backspace', 7),
    key('enter'),
  ]),
  await measure('next match', [key('/'), ...[...'all:商品/24'].map(key), key('enter'), ...repeat('n', 10), key('esc')]),
];
instance.unmount();
const slowest = Math.max(...results.slice(1));
console.log(`slowest p95 ${slowest.toFixed(1)} ms, limit ${LIMIT_MS} ms: ${slowest <= LIMIT_MS ? 'ok' : 'too slow'}`);
process.exitCode = slowest <= LIMIT_MS ? 0 : 1;
