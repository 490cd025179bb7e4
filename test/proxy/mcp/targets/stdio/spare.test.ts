import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { Target, TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { Spare } from '../../../../../proxy/mcp/targets/stdio/spare.ts';
import { ManualClock } from '../../session/manual-clock.ts';
import { ask, initialize, isAlive, listAt, request, result, targetCall, until, type World, world } from './world.ts';

/** Counts what it is told of. */
class Watch {
  running = 0;
  spares = 0;
  sparesBegun = 0;
  programBegan(): void {
    this.running += 1;
  }
  programEnded(): void {
    this.running -= 1;
  }
  spareBegan(): void {
    this.spares += 1;
    this.sparesBegun += 1;
  }
  spareEnded(): void {
    this.spares -= 1;
  }
  programRestarted(): void {}
  programsWait(): void {}
}

const MINUTE = 60_000;
const TELLING = "console.error('I am', process.pid);";

let its: World;
let watch: Watch;
let clock: ManualClock;
let spare: Spare;

function begin(max?: number): void {
  its = world(max);
  watch = new Watch();
  clock = new ManualClock();
  spare = new Spare({ clock, watch });
}

beforeEach(() => begin());
afterEach(async () => {
  await spare.close();
  await its.close();
});

const served = (text: string): Target => its.target(text, { spare, watch });
const modern = targetCall('2026-07-28');

async function pidOf(connection: TargetConnection): Promise<number> {
  return Number((await result(connection, request('pid'), modern))['pid']);
}

/** One conversation of one message. */
async function lone(target: Target): Promise<number> {
  const connection = target.connect(null, true);
  const pid = await pidOf(connection);
  await connection.close(null);
  return pid;
}

describe('a conversation of one message', () => {
  test('leaves a program that waits for the next one, which nobody has said anything to', async () => {
    const target = served('');
    expect(watch.spares).toBe(0);
    const first = await lone(target);
    expect([watch.running, watch.spares]).toEqual([1, 1]);
    await until(() => !isAlive(first));
    await until(() => watch.running === 0);
    expect(its.programs.count).toBe(1);
    const second = target.connect(null, true);
    const { heard } = await result(second, request('heard'), modern);
    expect(listAt(heard)).toHaveLength(1);
    expect(watch).toMatchObject({ running: 1, spares: 1, sparesBegun: 2 });
    await second.close(null);
  });

  test('has its program for itself, also when several come at once', async () => {
    const target = served('');
    await lone(target);
    const pids = await Promise.all(Array.from({ length: 4 }, () => lone(target)));
    expect(new Set(pids).size).toBe(4);
    expect(watch.spares).toBe(1);
    await until(() => watch.running === 0);
    expect(its.programs.count).toBe(1);
  });

  test('hears what its program said before anybody was there', async () => {
    const target = served("send({ method: 'notifications/message', params: { data: 'early' } });");
    await lone(target);
    const second = target.connect(null, true);
    const heard = ask(second, request('pid'), modern);
    expect(await heard.end).toBeNull();
    expect(heard.messages).toMatchObject([{ kind: 'notification', params: { data: 'early' } }, { kind: 'result' }]);
    await second.close(null);
  });

  test('whose program ends before it answers leaves none', async () => {
    const target = served("on('pid', () => process.exit(3));");
    await expect(lone(target)).rejects.toThrow('ended with code 3');
    expect(watch.sparesBegun).toBe(0);
  });
});

describe('a session', () => {
  test('leaves no program behind, but takes one that waits', async () => {
    const target = served('');
    const session = target.connect(null);
    await result(session, initialize());
    expect(watch.sparesBegun).toBe(0);
    await lone(target);
    expect(watch.spares).toBe(1);
    const other = target.connect(null);
    await result(other, initialize());
    expect(watch).toMatchObject({ spares: 0, sparesBegun: 1 });
    const pids = [await pidOf(session), await pidOf(other)];
    expect(new Set(pids).size).toBe(2);
    await Promise.all([session.close(null), other.close(null)]);
    await until(() => its.programs.count === 0);
  });
});

describe('a program that waits', () => {
  test('ends after a minute, and the next conversation starts its own', async () => {
    const target = served('');
    await lone(target);
    await until(() => its.programs.count === 1);
    clock.pass(MINUTE - 1);
    expect(watch.spares).toBe(1);
    clock.pass(1);
    expect(watch.spares).toBe(0);
    await until(() => its.programs.count === 0);
    await lone(target);
    expect(watch).toMatchObject({ spares: 1, sparesBegun: 2 });
  });

  test('is not ended for the time that it waited before it was taken', async () => {
    const target = served('');
    await lone(target);
    clock.pass(MINUTE - 1);
    const session = target.connect(null);
    await result(session, initialize());
    clock.pass(MINUTE);
    expect(await pidOf(session)).toEqual(expect.any(Number));
    await session.close(null);
  });

  test('and dies by itself is told of and not replaced; nobody has to wait for that', async () => {
    const flag = join(await mkdtemp(join(tmpdir(), 'gwctl-spare-')), 'die');
    const asked = `heard.length > 0 || !process.getBuiltinModule('node:fs').existsSync(${JSON.stringify(flag)})`;
    const target = served(`setInterval(() => { if (!(${asked})) process.exit(4); }, 5).unref();`);
    // A program that was asked something may hear of it late: only those that wait meet the flag.
    const dies = async (): Promise<void> => {
      await writeFile(flag, '');
      await until(() => watch.spares === 0);
      await rm(flag);
    };
    await lone(target);
    await dies();
    expect(its.log.join('\n')).toContain('the program ended with code 4, though nobody had asked it anything');
    await lone(target);
    expect(watch.sparesBegun).toBe(1);
    clock.pass(250);
    await lone(target);
    expect(watch.sparesBegun).toBe(2);
    await dies();
    clock.pass(250);
    await lone(target);
    expect(watch.sparesBegun).toBe(2);
    clock.pass(250);
    await lone(target);
    expect(watch.sparesBegun).toBe(3);
    await dies();
    await until(() => its.programs.count === 0);
    await rm(dirname(flag), { recursive: true });
  });

  test('and has just died is not taken', async () => {
    const target = served(TELLING);
    await lone(target);
    const waiting = await secondPid();
    process.kill(waiting, 'SIGKILL');
    await until(() => watch.spares === 0 || !isAlive(waiting));
    await until(() => watch.spares === 0);
    expect(await lone(target)).not.toBe(waiting);
  });

  test('writes its errors to the log', async () => {
    const target = served(TELLING);
    const first = await lone(target);
    expect(await secondPid()).not.toBe(first);
  });

  test.each(['retired', 'close'] as const)(
    'ends when its target is gone (%s), and none is started any more',
    async (how) => {
      const target = served('');
      await lone(target);
      const late = target.connect(null, true);
      await pidOf(late);
      expect(watch.spares).toBe(1);
      await spare[how]();
      expect(watch.spares).toBe(0);
      await lone(target);
      await late.close(null);
      expect(watch.spares).toBe(0);
      await until(() => its.programs.count === 0);
      expect(clock.scheduled).toBe(0);
      spare.settled();
      await lone(target);
      expect(watch.spares).toBe(1);
    },
  );

  test('ends with the data thread, though nobody waits for its minute', async () => {
    await lone(served(TELLING));
    const waiting = await secondPid();
    await its.programs.close();
    expect(isAlive(waiting)).toBe(false);
    expect(its.programs.count).toBe(0);
    await spare.close();
    expect([watch.spares, clock.scheduled]).toEqual([0, 0]);
  });

  test('makes room for conversations of others, and is not started where there is none', async () => {
    await its.close();
    begin(2);
    await lone(served(''));
    await until(() => its.programs.count === 1);
    const other = its.target('', { watch });
    const [one, two] = [other.connect(null), other.connect(null)];
    await result(one, initialize());
    await result(two, initialize());
    expect(watch.spares).toBe(0);
    await until(() => its.programs.count === 2);
    await one.close(null);
    await until(() => its.programs.count === 1);
    await lone(served(''));
    expect(watch.sparesBegun).toBe(1);
    await two.close(null);
  });
});

/** Of the second program that was started, which tells it on stderr. */
async function secondPid(): Promise<number> {
  const told = (): string[] => its.log.flatMap((line) => /I am (\d+)/.exec(line)?.[1] ?? []);
  await until(() => told().length === 2);
  return Number(told()[1]);
}
