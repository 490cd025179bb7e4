import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { goldenPath } from '../golden.ts';
import { TestTerminal } from '../ui/pty/terminal.ts';
import { FakeAdmin } from './fake-admin.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

jest.setTimeout(60_000);

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).toReversed()) await step();
});

/** An admin interface whose answer a test can change, and wait for its being fetched. */
class ChangingAdmin {
  readonly admin: FakeAdmin;
  #waiting: { left: number; resolve: () => void }[] = [];
  body = '';

  private constructor(admin: FakeAdmin) {
    this.admin = admin;
  }

  static async start(path: string, body: string, listenOn = 0): Promise<ChangingAdmin> {
    const admin = await FakeAdmin.start(
      {
        [path]: (_request, response) => {
          response.setHeader('content-type', 'application/json');
          response.end(made.body);
          made.#fetched();
        },
      },
      listenOn,
    );
    const made = new ChangingAdmin(admin);
    made.body = body;
    cleanup.push(() => made.stop());
    return made;
  }

  /** Resolves when the answer has been fetched so many times more. */
  fetches(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ left: count, resolve }));
  }

  #stopped: Promise<void> | undefined;
  stop(): Promise<void> {
    this.#stopped ??= this.admin.stop();
    return this.#stopped;
  }

  #fetched(): void {
    for (const waiter of this.#waiting) waiter.left -= 1;
    for (const waiter of this.#waiting.filter(({ left }) => left <= 0)) waiter.resolve();
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
  }
}

function routes(...names: string[]): string {
  const entries = names.map((name) => [name, { key: name, name, namespace: 'default', backends: [] }]);
  const listener = { key: 'l', listenerName: 'l', protocol: 'HTTP', routes: Object.fromEntries(entries) };
  return JSON.stringify({ binds: [{ key: 'bind/80', listeners: { l: listener } }] });
}

function start(words: readonly string[]): ChildProcessWithoutNullStreams {
  const child = startGwctl(words);
  cleanup.push(() => child.kill('SIGKILL'));
  return child;
}

/** Waits until a stream has said something. */
function said(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  let all = '';
  return new Promise((resolve) => {
    stream.on('data', (part) => {
      all += String(part);
      if (all.includes(text)) resolve();
    });
  });
}

describe('--watch off a terminal', () => {
  test('prints a document for every change and none in between, and ends with 130 on Ctrl-C', async () => {
    const server = await ChangingAdmin.start('/config_dump', routes('a'));
    const words = ['config', 'routes', '--address', server.admin.address, '-o', 'name', '-w', '--interval', '5ms'];
    const child = start(words);
    const end = finished(child);
    const changed = said(child.stdout, 'route/b');
    await server.fetches(5);
    server.body = routes('a', 'b');
    await changed;
    await server.fetches(5);
    child.kill('SIGINT');
    expect(await end).toEqual({ code: 130, stdout: 'route/a\nroute/a\nroute/b\n', stderr: '' });
  });

  test('prints whole JSON documents of the status', async () => {
    const server = await ChangingAdmin.start('/config_status', '{"live":{"revision":"1"}}');
    const words = ['config', 'status', '--address', server.admin.address, '-o', 'json', '-w', '--interval', '5ms'];
    const child = start(words);
    const end = finished(child);
    const changed = said(child.stdout, '"2"');
    await server.fetches(2);
    server.body = '{"live":{"revision":"2"}}';
    await changed;
    child.kill('SIGINT');
    const { code, stdout } = await end;
    const documents = stdout.split(/(?<=^\}\n)/m).map((text) => JSON.parse(text));
    expect([code, documents]).toEqual([130, [{ live: { revision: '1' } }, { live: { revision: '2' } }]]);
  });

  test('waits for a proxy that goes away, says so once, and goes on when it is back', async () => {
    const first = await ChangingAdmin.start('/config_dump', routes('a'));
    const { port, address } = first.admin;
    const child = start(['config', 'routes', '--address', address, '-o', 'name', '-w', '--interval', '5ms']);
    const end = finished(child);
    const gone = said(child.stderr, 'still trying');
    const back = said(child.stdout, 'route/b');
    await first.fetches(2);
    await first.stop();
    await gone;
    await ChangingAdmin.start('/config_dump', routes('b'), port);
    await back;
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout, stderr.match(/still trying/g)?.length]).toEqual([130, 'route/a\nroute/b\n', 1]);
  });

  test('a note is said once as long as it stays the same', async () => {
    const server = await ChangingAdmin.start('/config_dump', routes('a'));
    const child = start(['config', 'be', '--address', server.admin.address, '-w', '--interval', '5ms']);
    const end = finished(child);
    await server.fetches(5);
    child.kill('SIGINT');
    expect((await end).stderr.match(/--all/g)?.length).toBe(1);
  });

  test('a proxy that never answered is an error', async () => {
    const { code } = await gwctl(['config', 'routes', '--address', '127.0.0.1:1', '--watch']);
    expect(code).toBe(4);
  });

  test.each([
    [['--file', goldenPath('cli/dump.json'), '--watch'], 'needs a running proxy'],
    [['--local', '--interval', '1s'], '--watch'],
    [['--local', '--watch', '--interval', 'often'], 'not a duration'],
  ])('%j is wrong usage', async (flags, reason) => {
    const { code, stderr } = await gwctl(['config', 'routes', ...flags]);
    expect([code, stderr.includes(reason)]).toEqual([2, true]);
  });
});

describe('--watch on a terminal', () => {
  test('draws the table over itself and gives the terminal back on Ctrl-C', async () => {
    const server = await ChangingAdmin.start('/config_dump', routes('first', 'second'));
    const words = ['config', 'routes', '--address', server.admin.address, '--watch', '--interval', '20ms'];
    const terminal = TestTerminal.entry('../../commands/from-source.ts', words, { columns: 80, rows: 24 });
    cleanup.push(() => terminal.kill());
    await terminal.shows('second');
    server.body = routes('third');
    await terminal.shows('third');
    const lines = terminal.text().trimEnd().split('\n');
    expect([lines.length, lines[0]?.startsWith('LISTENER'), lines[1]?.includes('third')]).toEqual([2, true, true]);
    terminal.type('\u0003');
    expect(await terminal.exited).toBe(130);
    expect(terminal.raw.lastIndexOf('\u001B[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001B[?25l'));
    expect(terminal.raw.lastIndexOf('\u001B[?7h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001B[?7l'));
    expect(terminal.isAlternate).toBe(false);
  });
});
