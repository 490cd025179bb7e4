import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { TestTerminal } from './terminal.ts';

jest.setTimeout(60_000);

const open: TestTerminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.kill();
});

function trace(name: string, mode = '', size = { columns: 120, rows: 40 }): TestTerminal {
  return keep(TestTerminal.entry('trace-entry.ts', [`test/fixtures/traces/${name}.jsonl`, mode], size));
}

function keep(terminal: TestTerminal): TestTerminal {
  open.push(terminal);
  return terminal;
}

describe('the trace viewer in a terminal', () => {
  test('shows the events, answers keys and leaves the terminal as it was', async () => {
    const terminal = trace('retry');
    await terminal.shows('stream complete, 26 events');
    expect(terminal.isAlternate).toBe(true);
    terminal.type('g');
    await terminal.shows('Events 1/26');
    terminal.type('t');
    await terminal.shows('Waterfall');
    terminal.type('\u001b[B\u001b[B');
    await terminal.shows('Waterfall 3/26');
    terminal.type('d\t');
    await terminal.shows('First snapshot, of #2');
    terminal.type('qq');
    expect(await terminal.exited).toBe(0);
    await terminal.shows('left with 0');
    await terminal.until(() => !terminal.isAlternate, 'the normal screen');
    expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'));
  });

  test.each([
    ['the list', ''],
    ['a prompt', '/abc'],
    ['the palette', ':'],
    ['the help', '?'],
  ])('ctrl-c leaves from %s with 130', async (_name, keys) => {
    const terminal = trace('plain-200', 'open');
    await terminal.shows('19 events');
    terminal.type(keys);
    terminal.type('\u0003');
    expect(await terminal.exited).toBe(130);
    await terminal.until(() => !terminal.isAlternate, 'the normal screen');
  });

  test('SIGTERM leaves the terminal as it was', async () => {
    const terminal = trace('plain-200', 'open');
    await terminal.shows('19 events');
    terminal.terminate();
    expect(await terminal.exited).toBe(130);
    await terminal.until(() => !terminal.isAlternate, 'the normal screen');
  });

  test('filters while typing and escape takes it back', async () => {
    const terminal = trace('plain-200');
    await terminal.shows('stream complete');
    terminal.type('/snap');
    await terminal.shows('filter/snap');
    await terminal.shows('Events 8/8');
    terminal.type('\u001b');
    await terminal.shows(/Events \d+\/19/);
  });

  test('a broken stream is a row, not a crash', async () => {
    const terminal = trace('plain-200', 'broken');
    await terminal.shows('✗ the proxy closed the connection');
    terminal.type('q');
    expect(await terminal.exited).toBe(0);
  });

  test('a resent request is a second group', async () => {
    const terminal = trace('plain-200');
    await terminal.shows('stream complete');
    terminal.type('r');
    await terminal.shows('2 requests');
    await terminal.shows('request sent again');
  });

  test('follows the size of the terminal without leaving anything behind', async () => {
    const terminal = trace('timeout-504');
    await terminal.shows('stream complete');
    for (const [columns, rows] of [
      [80, 24],
      [40, 10],
      [160, 45],
      [60, 30],
    ] as const) {
      terminal.resize(columns, rows);
      terminal.type('kj');
      await terminal.until(() => isWhole(terminal.text(), rows), `a whole frame at ${columns} x ${rows}`);
    }
  });

  test('copies through the terminal', async () => {
    const terminal = trace('plain-200');
    await terminal.shows('stream complete');
    terminal.type('c');
    await terminal.shows(/copied [\d.]+ B to the clipboard/);
    // oxlint-disable-next-line no-control-regex -- the sequence that is looked for
    const encoded = /\u001b\]52;c;([A-Za-z0-9+/=]+)\u0007/.exec(terminal.raw)?.[1] ?? '';
    expect(Buffer.from(encoded, 'base64').toString()).toContain('type: requestFinished');
  });

  test('a crash leaves the alternate screen before its message', async () => {
    const terminal = trace('plain-200', 'crash');
    await terminal.shows('stream complete');
    terminal.type('C');
    expect(await terminal.exited).not.toBe(0);
    await terminal.shows('crashed on purpose');
    await terminal.until(() => !terminal.isAlternate, 'the normal screen');
  });

  test('ctrl-z suspends to the shell and fg brings the screen back', async () => {
    const shell = keep(TestTerminal.shell({ columns: 100, rows: 24 }));
    const hooks = fileURLToPath(new URL('tsx-hooks.js', import.meta.url));
    shell.type(
      `${process.execPath} --import ${hooks} test/ui/pty/trace-entry.ts test/fixtures/traces/plain-200.jsonl\r`,
    );
    await shell.shows('stream complete');
    shell.type('\u001a');
    await shell.until(() => !shell.isAlternate, 'the normal screen');
    await shell.shows('Stopped');
    shell.type('fg\r');
    await shell.until(() => shell.isAlternate, 'the alternate screen again');
    await shell.shows('Events 19/19');
    shell.type('gq');
    await shell.shows('left with 0');
  });
});

describe('exporting from a terminal', () => {
  test('writes the file and says where', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'gwctl-ui-'));
    const terminal = keep(
      TestTerminal.entry('trace-entry.ts', ['test/fixtures/traces/plain-200.jsonl', '', directory], {
        columns: 120,
        rows: 40,
      }),
    );
    await terminal.shows('stream complete');
    terminal.type('x');
    await terminal.shows('JSON Lines: every event');
    terminal.type('j');
    await terminal.shows('✓ wrote');
    expect(await readdir(directory)).toEqual(['trace.jsonl']);
    await rm(directory, { recursive: true });
  });
});

describe('the live screen in a terminal', () => {
  test('shows requests, opens one and comes back', async () => {
    const terminal = keep(
      TestTerminal.entry('live-entry.ts', ['test/fixtures/traces/many-requests.jsonl'], { columns: 120, rows: 30 }),
    );
    await terminal.shows('24 requests kept');
    await terminal.shows('$ curl -N http://127.0.0.1:8080/stream');
    terminal.type('z');
    await terminal.shows('problems only');
    terminal.type('\r');
    await terminal.shows('┏━ Events');
    terminal.type('\u001b');
    await terminal.shows('Requests 6/6');
    terminal.type('\u0003');
    expect(await terminal.exited).toBe(130);
    await terminal.until(() => !terminal.isAlternate, 'the normal screen');
  });
});

/** Header on the first line, keys on the last one, and one pane title at least in between. */
function isWhole(text: string, rows: number): boolean {
  const lines = text.split('\n');
  return (
    lines.length === rows &&
    /504/.test(lines[0] ?? '') &&
    /⏎ open/.test(lines.at(-1) ?? '') &&
    lines.filter((line) => line.includes('⏎ open')).length === 1
  );
}
