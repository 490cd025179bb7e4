import { describe, expect, test } from '@jest/globals';

import { McpLive } from '../../../../proxy/mcp/records/live.ts';
import type { McpReport } from '../../../../proxy/mcp/records/report.ts';
import { SessionsRecord } from '../../../../proxy/mcp/records/sessions-record.ts';
import { TargetRecord } from '../../../../proxy/mcp/records/target-record.ts';
import { LogFilter, Logger } from '../../../../src/shared/log.ts';
import { NamedStores } from '../../../../proxy/policy/stores.ts';
import { McpRecords } from '../../../../proxy/mcp/records/records.ts';

const KEY = '/mcp/a';

/** A data thread with its own record of one target, under a clock of the test's. */
class Thread {
  static now = 1000;
  readonly record = new TargetRecord({ key: KEY, program: false, now: () => Thread.now, log: null, onRetired() {} });
  readonly sessions = new SessionsRecord('/mcp', () => {});

  report(): McpReport {
    return { targets: [this.record.report()], sessions: [this.sessions.report()] };
  }
}

function together(...threads: readonly Thread[]) {
  const live = new McpLive(
    threads.map((thread) => structuredClone(thread.report())),
    Thread.now,
  );
  return { all: live.sessionsOf('/mcp'), target: live.target('/mcp', 'a') };
}

function at(now: number, work: () => void): void {
  Thread.now = now;
  work();
}

const broken = (message: string) => ({ kind: 'broken', message }) as const;
const session = (id: string, targets: readonly string[] = ['a'], elsewhere = false) => ({
  id,
  elsewhere,
  withTargets: () => targets,
});

describe('what data threads have seen of a target', () => {
  test('adds up', () => {
    const threads = [new Thread(), new Thread()];
    for (const { record } of threads) {
      record.called();
      record.called();
      record.answered(true);
      record.failed(broken('it is down'));
    }
    expect(together(...threads).target).toMatchObject({ calls: 4, errors: 2, failures: 2, lastError: 'it is down' });
  });

  test('is unknown where no thread has the target', () => {
    const live = new McpLive([], 0);
    expect([live.target('/mcp', 'a'), live.sessionsOf('/mcp')]).toEqual([undefined, 0]);
  });

  test('fails since the first failure that no answer followed, in whatever thread that came', () => {
    const [one, two] = [new Thread(), new Thread()];
    at(1000, () => one.record.failed(broken('first')));
    at(2000, () => two.record.failed(broken('second')));
    expect(together(one, two).target).toMatchObject({ failingSince: 1000, lastError: 'second' });
    at(3000, () => two.record.answered(false));
    expect(together(one, two).target).toMatchObject({ failingSince: 0, answeredAt: 3000, lastError: 'second' });
    at(4000, () => one.record.failed(broken('third')));
    // The first thread has heard of nothing but failures, but another was answered meanwhile.
    expect(together(one, two).target).toMatchObject({ failingSince: 3000, lastError: 'third' });
  });

  test('is no failure where it does not have what was asked for', () => {
    const thread = new Thread();
    thread.record.failed({ kind: 'unsupported', message: 'no stream' });
    expect(together(thread).target).toMatchObject({ failures: 0, failingSince: 0, lastError: null });
  });

  test('names the protocol version that was agreed on last at the end, and keeps few', () => {
    const thread = new Thread();
    thread.record.met('2025-11-25', { serverInfo: { name: 'everything', version: '2.0' } });
    thread.record.met('2026-07-28', null);
    thread.record.met('2025-11-25', null);
    expect(together(thread).target).toMatchObject({
      versions: ['2026-07-28', '2025-11-25'],
      server: { name: 'everything', version: '2.0' },
    });
    for (let i = 0; i < 50; i++) thread.record.met(`${i}`.repeat(500), { serverInfo: { name: 'x'.repeat(5000) } });
    const { versions = [], server } = together(thread).target ?? {};
    expect(versions.length).toBeLessThanOrEqual(8);
    expect(Math.max(...versions.map(({ length }) => length), server?.name.length ?? 0)).toBeLessThanOrEqual(128);
  });

  test.each([null, {}, { serverInfo: 'x' }, { serverInfo: { name: 7 } }])(
    'takes %j for an introduction without a sound',
    (told) => {
      const thread = new Thread();
      thread.record.met('2025-11-25', told);
      expect(together(thread).target?.versions).toEqual(['2025-11-25']);
    },
  );
});

describe('the tools of a target', () => {
  const tools = (...names: unknown[]) => names.map((name) => ({ name, description: 'd' })) as never;

  test('are those that it listed last', () => {
    const [one, two] = [new Thread(), new Thread()];
    at(1000, () => one.record.listed({ tools: tools('a', 'b') }, false));
    at(2000, () => two.record.listed({ tools: tools('a', 'b', 'c') }, false));
    expect(together(one, two).target?.tools).toEqual({ count: 3, names: ['a', 'b', 'c'], more: false, at: 2000 });
  });

  test('are put together from pages, whoever turns them', () => {
    const { record } = new Thread();
    const first = { tools: tools('a', 'b'), nextCursor: '2' };
    record.listed(first, false);
    const known = () => new McpLive([{ targets: [record.report()], sessions: [] }], 0).target('/mcp', 'a')?.tools;
    expect(known()).toMatchObject({ count: 2, more: true });
    record.listed(first, false);
    record.listed({ tools: tools('c') }, true);
    expect(known()).toMatchObject({ count: 3, names: ['a', 'b', 'c'], more: false });
    // A list that begins anew does not take away what is known.
    record.listed(first, false);
    expect(known()).toMatchObject({ count: 3, more: false });
  });

  test('are counted when they are many or odd', () => {
    const thread = new Thread();
    const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `tool-${index}` }));
    thread.record.listed({ tools: many }, false);
    expect(together(thread).target?.tools).toMatchObject({ count: 10_000, more: false });
    expect(together(thread).target?.tools?.names).toHaveLength(1000);
    for (const odd of ['x', null, { a: 1 }]) thread.record.listed({ tools: odd }, false);
    expect(together(thread).target?.tools?.count).toBe(10_000);
    thread.record.listed({ tools: [null, 7, {}, { name: 5 }, ...tools('z'.repeat(999))] }, false);
    expect(together(thread).target?.tools?.names).toEqual([`${'z'.repeat(127)}…`]);
  });
});

describe('sessions', () => {
  test('count once, whichever threads have copies', () => {
    const [one, two] = [new Thread(), new Thread()];
    one.sessions.began(session('s1'));
    two.sessions.began(session('s1', []));
    two.sessions.began(session('s2', []));
    expect(together(one, two)).toMatchObject({ all: 2, target: { sessions: 1 } });
  });

  test('that another thread has are its own', () => {
    const [one, two] = [new Thread(), new Thread()];
    one.sessions.began(session('s1'));
    two.sessions.began(session('s1', ['a'], true));
    two.sessions.began(session('dead', ['a'], true));
    expect(together(one, two).all).toBe(1);
  });

  test('that a client has ended are over in every thread', () => {
    const [one, two] = [new Thread(), new Thread()];
    const copy = session('s1');
    one.sessions.began(session('s1'));
    two.sessions.began(copy);
    two.sessions.over(copy, true);
    expect(together(one, two).all).toBe(0);
  });

  test('that one thread forgets are others’ still', () => {
    const [one, two] = [new Thread(), new Thread()];
    const copy = session('s1');
    one.sessions.began(session('s1'));
    two.sessions.began(copy);
    two.sessions.over(copy, false);
    expect(together(one, two).all).toBe(1);
  });

  test('are told apart by the thousand', () => {
    const thread = new Thread();
    for (let i = 0; i < 20_000; i++) thread.sessions.began(session(`{"t":"mcp","s":[{"t":"a","s":"${i}"}]}`));
    expect(together(thread).all).toBe(20_000);
  });
});

describe('records of a data thread', () => {
  test('are kept over reloads while somebody asks for them, and then forgotten', () => {
    const records = new McpRecords(() => 5);
    const stores = new NamedStores();
    const ask = () => records.target('definition', { key: KEY, program: true, log: null }, stores);
    ask().called();
    records.sessions('backend', '/mcp', stores).began(session('s'));
    stores.settle();
    expect(ask()).toBe(ask());
    stores.settle();
    expect(records.report()).toMatchObject({
      targets: [{ key: KEY, calls: 1, programs: { running: 0, restarts: 0, notBefore: 0 } }],
      sessions: [],
    });
    stores.settle();
    expect(records.report()).toEqual({ targets: [], sessions: [] });
    // The configuration of before is live again.
    expect(ask().report().calls).toBe(1);
    expect(records.report().targets).toHaveLength(1);
  });

  test('count programs', () => {
    const record = new TargetRecord({ key: KEY, program: true, now: () => 100, log: null, onRetired() {} });
    record.programBegan();
    record.programEnded();
    record.programsWait(250);
    record.programRestarted();
    record.programBegan();
    record.spareBegan();
    record.spareBegan();
    record.spareEnded();
    expect(record.report().programs).toEqual({ running: 1, spare: 1, restarts: 1, notBefore: 350 });
    record.programsWait(0);
    expect(record.report().programs?.notBefore).toBe(0);
  });
});

describe('the log of a target', () => {
  function logged() {
    const lines: string[] = [];
    const logger = new Logger({
      filter: LogFilter.parse('info') as LogFilter, // it is understood
      format: 'text',
      write: (line) => void lines.push(line.split('\t').slice(1).join(' ').trim()),
    });
    let now = 1000;
    const record = new TargetRecord({
      key: KEY,
      program: false,
      now: () => now,
      log: logger.scope('mcp'),
      onRetired() {},
    });
    return { record, lines, pass: (ms: number) => void (now += ms) };
  }

  test('has one line when it begins to fail and one when it answers again', () => {
    const { record, lines, pass } = logged();
    record.answered(false);
    record.failed(broken('connection refused'));
    pass(5000);
    record.failed(broken('connection refused'));
    pass(7000);
    record.answered(false);
    record.answered(false);
    expect(lines).toEqual([
      'warn mcp the server fails: connection refused target=a',
      'info mcp the server answers again target=a failedFor=12s',
    ]);
  });

  test('does not blame the server for what one client asks', () => {
    const { record, lines } = logged();
    record.failed({ kind: 'http', status: 401, response: null, message: 'HTTP 401' });
    record.failed({ kind: 'forgotten', message: 'no such session' });
    record.answered(false);
    expect(lines).toEqual([]);
    record.failed({ kind: 'http', status: 401, response: null, message: 'HTTP 401' });
    record.failed({ kind: 'http', status: 503, response: null, message: 'HTTP 503' });
    expect(lines).toEqual(['warn mcp the server fails: HTTP 503 target=a']);
  });
});
