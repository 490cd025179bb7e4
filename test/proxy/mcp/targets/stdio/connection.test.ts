import { execFileSync } from 'node:child_process';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import {
  ask,
  at,
  Heard,
  initialize,
  isAlive,
  listAt,
  request,
  result,
  targetCall,
  until,
  type World,
  world,
} from './world.ts';

let its: World;
beforeEach(() => {
  its = world();
});
afterEach(async () => {
  await its.close();
});

async function untilStarted(server: TargetConnection): Promise<void> {
  while ((await ask(server, initialize()).end) !== null) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('a program that behaves', () => {
  test('answers requests by their own ids, whatever kind these are and though two are the same', async () => {
    const server = its.script('');
    await result(server, initialize());
    const answers = await Promise.all([
      result(server, request('echo', { n: 1 }, 'same')),
      result(server, request('echo', { n: 2 }, 'same')),
      result(server, request('echo', { n: 3 }, 0)),
      result(server, request('echo', undefined, 'x'.repeat(1000))),
    ]);
    expect(answers.map(({ params }) => at(params ?? {}, 'n'))).toEqual([1, 2, 3, undefined]);
    const heard = ask(server, request('echo', {}, 'same'));
    expect(await heard.end).toBeNull();
    expect(heard.messages).toEqual([{ kind: 'result', id: 'same', result: { params: {} } }]);
  });

  test('is told the place in a distributed trace', async () => {
    const server = its.script('');
    const headers = { traceparent: '00-a-b-01', tracestate: 'x=y', authorization: 'secret' };
    expect(await result(server, request('echo', { _meta: { progressToken: 1 } }), targetCall(null, headers))).toEqual({
      params: { _meta: { progressToken: 1, traceparent: '00-a-b-01', tracestate: 'x=y' } },
    });
  });

  test('gets its environment, and of the gateway only what it may see', async () => {
    const show = "on('env', () => ({ ...process.env }));";
    const environment = { PATH: process.env['PATH'], MINE: 'yes', SESSION_KEY: 'k', OIDC_COOKIE_SECRET: 'c' };
    const args = [
      '-e',
      `const on = (m, work) => process.stdin.once('data', (d) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(d).id, result: work() }) + '\\n'));${show}`,
    ];
    const seen = await result(its.run(process.execPath, args, { environment, env: { OWN: '1' } }), request('env'));
    expect(seen).toMatchObject({ MINE: 'yes', OWN: '1' });
    expect(Object.keys(seen)).not.toContain('SESSION_KEY');
    expect(Object.keys(seen)).not.toContain('OIDC_COOKIE_SECRET');
    const bare = its.run(process.execPath, args, { environment, env: { OWN: '1' }, clearEnv: true });
    expect(await result(bare, request('env'))).toEqual({ OWN: '1' });
    const named = its.run('node', args, { environment, clearEnv: true });
    expect(await result(named, request('env'))).toEqual({});
  });

  test('is heard by the call that it names, the call under way, or the listener', async () => {
    const server = its.script(`
      on('work', (params) => {
        send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } });
        send({ method: 'notifications/message', params: { level: 'info', data: 'hello' } });
        send({ method: 'notifications/tools/list_changed' });
        send({ id: 'q', method: 'sampling/createMessage', params: {} });
        return {};
      });`);
    await result(server, initialize());
    const listener = new Heard();
    const listening = server.listen(targetCall(), listener);
    const idle = ask(server, request('never', { _meta: { progressToken: 'other' } }));
    const work = ask(server, request('work', { _meta: { progressToken: 'mine' } }));
    expect(await work.end).toBeNull();
    expect(work.messages.map((each) => ('method' in each ? each.method : each.kind))).toEqual([
      'notifications/progress',
      'notifications/message',
      'sampling/createMessage',
      'result',
    ]);
    expect(listener.messages).toEqual([
      { kind: 'notification', method: 'notifications/tools/list_changed', params: undefined },
    ]);
    await server.post({ kind: 'result', id: 'q', result: { ok: true } }, targetCall());
    expect(listAt(await result(server, request('heard')), 'heard')).toContainEqual({
      jsonrpc: '2.0',
      id: 'q',
      result: { ok: true },
    });
    idle.calling.cancel();
    listening.cancel();
    expect(idle.ended).toBe(false);
  });

  test('says what it has to say before anybody listens', async () => {
    const server = its.script(`on('notifications/initialized', () => { send({ id: 1, method: 'roots/list' }); });`);
    await result(server, initialize());
    expect(
      await server.post({ kind: 'notification', method: 'notifications/initialized', params: undefined }, targetCall()),
    ).toBeNull();
    const listener = new Heard();
    server.listen(targetCall(), listener);
    await listener.count(1);
    expect(listener.messages).toEqual([{ kind: 'request', id: 1, method: 'roots/list', params: undefined }]);
    const second = new Heard();
    server.listen(targetCall(), second);
    expect(await listener.end).toBeNull();
  });

  test('learns which request is cancelled, by the id that it knows', async () => {
    const server = its.script('');
    await result(server, initialize());
    const slow = ask(server, request('slow', {}, 'mine'));
    const slower = ask(server, request('slow', {}, 'other'));
    const cancelled = { kind: 'notification', method: 'notifications/cancelled' } as const;
    expect(await server.post({ ...cancelled, params: { requestId: 'mine', reason: 'no' } }, targetCall())).toBeNull();
    expect(await server.post({ ...cancelled, params: { requestId: 'nobody' } }, targetCall())).toBeNull();
    slower.calling.cancel();
    slower.calling.cancel();
    const heard = listAt(await result(server, request('heard')), 'heard');
    const ids = heard.filter((each) => at(each, 'method') === 'slow').map((each) => at(each, 'id'));
    const cancellations = heard.filter((each) => at(each, 'method') === 'notifications/cancelled');
    expect(cancellations.map((each) => at(each, 'params'))).toEqual([
      { requestId: ids[0], reason: 'no' },
      { requestId: ids[1], reason: 'the client has gone' },
    ]);
    expect(slow.ended).toBe(false);
    expect(slower.ended).toBe(false);
  });

  test('that has batches is understood', async () => {
    const server = its.script(`on('both', (p, { id }) => { process.stdout.write(JSON.stringify([
      { jsonrpc: '2.0', method: 'notifications/message', params: {} }, { jsonrpc: '2.0', id, result: { done: true } }]) + '\\r\\n'); });`);
    expect(await result(server, request('both'))).toEqual({ done: true });
  });

  test('ends when the conversation does, with what it has started', async () => {
    const server = its.script(`
      const { spawn } = require('node:child_process');
      on('family', () => ({ pids: [process.pid, spawn('sleep', ['1000']).pid] }));`);
    const pids = listAt(await result(server, request('family')), 'pids').map(Number);
    const open = ask(server, request('slow'));
    expect(await server.close(null)).toBeNull();
    expect(await open.end).toMatchObject({ kind: 'broken' });
    await until(() => its.programs.count === 0);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
    expect(await ask(server, initialize()).end).toMatchObject({ kind: 'broken' });
    expect(await server.post({ kind: 'notification', method: 'x', params: undefined }, targetCall())).toMatchObject({
      kind: 'broken',
    });
  });
});

describe('a program that does not', () => {
  test('exist fails the call, and is not tried again at once', async () => {
    const server = its.run('no-such-program', []);
    expect(await ask(server, initialize()).end).toEqual({
      kind: 'broken',
      message: 'one: the program no-such-program could not be started: there is no such command',
    });
    expect(await ask(server, initialize()).end).toMatchObject({
      message: expect.stringMatching(/started again in 2\d\d ms/),
    });
  });

  test('may be executed fails the call', async () => {
    expect(await ask(its.run('/etc/passwd', []), initialize()).end).toMatchObject({
      message: 'one: the program /etc/passwd could not be started: the command may not be executed',
    });
    expect(await ask(its.run('x', ['a\0b']), initialize()).end).toMatchObject({ kind: 'broken' });
  });

  test('live long fails what is under way, and is started again for what needs no session', async () => {
    const server = its.script(`on('die', () => process.exit(3));`);
    await result(server, initialize());
    const listener = new Heard();
    server.listen(targetCall(), listener);
    const other = ask(server, request('slow'));
    const dying = ask(server, request('die'));
    const failure = { kind: 'broken', message: 'one: the program ended with code 3' };
    expect(await Promise.all([dying.end, other.end, listener.end])).toEqual([failure, failure, failure]);
    expect(await ask(server, request('echo')).end).toMatchObject({ kind: 'forgotten' });
    expect(await ask(server, request('echo')).end).toMatchObject({ kind: 'forgotten' });
    const again = server.listen(targetCall(), new Heard());
    again.cancel();
    expect(await server.post({ kind: 'notification', method: 'x', params: undefined }, targetCall())).toMatchObject({
      kind: 'forgotten',
    });
    await result(server, initialize());
    expect(await result(server, request('echo'))).toEqual({ params: null });
  });

  test('live long again and again is started later and later', async () => {
    const server = its.script(`on('die', () => process.exit(3));`);
    for (let i = 0; i < 2; i++) {
      await result(server, initialize());
      await ask(server, request('die')).end;
    }
    const waits = expect.stringMatching(
      /^one: the program ended with code 3; it is started again in \d+ ms at the earliest$/,
    );
    expect(await ask(server, initialize()).end).toEqual({ kind: 'broken', message: waits });
    await untilStarted(server);
    expect(await result(server, request('echo'))).toEqual({ params: null });
  });

  test('live at all says how it ended', async () => {
    const server = its.run(process.execPath, ['-e', 'console.error("no token\\nset"); process.exit(1)'], {
      environment: {},
    });
    expect(await ask(server, initialize()).end).toEqual({
      kind: 'broken',
      message: 'one: the program ended with code 1',
    });
    expect(its.log.join('')).toContain('\tinfo\tmcp\tno token\ttarget=one');
    expect(its.log.join('')).toContain('\tinfo\tmcp\tset\ttarget=one');
  });

  test('speak JSON-RPC is logged, bounded, and read on', async () => {
    const server = its.script(`
      process.stdout.write('Listening on stdio!\\n[]\\n\\n{"jsonrpc":"2.0","id":99,"result":{}}\\n{"jsonrpc":"2.0","id":1}\\nnull\\n' + 'x'.repeat(100000) + '\\n');
      on('many', () => { for (let i = 0; i < 1000; i++) process.stdout.write('garbage\\n'); return {}; });`);
    expect(await result(server, request('echo'))).toEqual({ params: null });
    expect(its.log.join('')).toContain('line="Listening on stdio!"');
    await result(server, request('many'));
    expect(its.log.length).toBeLessThan(220);
    expect(Math.max(...its.log.map((line) => line.length))).toBeLessThan(2500);
  });

  test('end its lines is stopped', async () => {
    const server = its.script(`on('huge', () => { setInterval(() => process.stdout.write('x'.repeat(4096)), 1); });`, {
      maxLineBytes: 100_000,
    });
    const pid = Number(at(await result(server, request('pid')), 'pid'));
    expect(await ask(server, request('huge')).end).toEqual({
      kind: 'broken',
      message: 'one: the program wrote a line that is too long',
    });
    await until(() => its.programs.count === 0);
    expect(isAlive(pid)).toBe(false);
  });

  test('stop when asked is killed', async () => {
    const server = its.script(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`);
    const pid = Number(at(await result(server, request('pid')), 'pid'));
    await server.close(null);
    expect(isAlive(pid)).toBe(true);
    await its.close();
    expect(isAlive(pid)).toBe(false);
  });

  test('keep its output open is stopped', async () => {
    const server = its.script(`on('mute', () => { require('node:fs').closeSync(1); setInterval(() => {}, 1000); });`);
    await result(server, initialize());
    expect(await ask(server, request('mute')).end).toEqual({
      kind: 'broken',
      message: 'one: the program closed its output',
    });
    await until(() => its.programs.count === 0);
  });

  test('read makes calls fail once too much waits for it', async () => {
    const server = its.run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { environment: {} });
    const calls = Array.from({ length: 8 }, () => ask(server, request('x', { text: 'y'.repeat(2 ** 20) })));
    expect(await calls.at(-1)?.end).toEqual({ kind: 'broken', message: 'the program does not read what it is asked' });
    expect(calls[0]?.ended).toBe(false);
  });

  test('stop talking waits while nobody listens', async () => {
    const server = its.script(`
      let sent = 0;
      on('notifications/flood', () => { setInterval(() => { while (sent < 1e6 && process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { n: sent++, text: 'z'.repeat(500) } }) + '\\n')); }, 1); });
      on('sent', () => ({ sent }));`);
    await result(server, initialize());
    await server.post({ kind: 'notification', method: 'notifications/flood', params: undefined }, targetCall());
    const listener = new Heard();
    const listening = server.listen(targetCall(), listener);
    await listener.count(1000);
    listening.cancel();
    const { messages } = listener;
    const before = messages.length;
    const slow = ask(server, request('sent'));
    expect(await slow.end).toBeNull();
    expect(messages.length).toBe(before);
    const [first] = messages;
    expect(first).toMatchObject({ params: { n: 0 } });
  });

  test('stop talking waits for a client that does not read, and loses nothing', async () => {
    const server = its.script(`
      on('flood', (p, { id }) => void flood(id));
      async function flood(id) {
        for (let n = 0; n < 20000; n++)
          if (!process.stdout.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { n, text: 'z'.repeat(500) } }) + '\\n'))
            await new Promise((resolve) => process.stdout.once('drain', resolve));
        send({ id, result: {} });
      }`);
    await result(server, initialize());
    const flood = ask(server, request('flood'));
    await flood.count(1);
    flood.calling.pause();
    const { length } = flood.messages;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(flood.messages.length).toBe(length);
    flood.calling.resume();
    expect(await flood.end).toBeNull();
    expect(flood.messages.length).toBe(20_001);
    expect(flood.messages.slice(0, -1).map((each) => at(each, 'params', 'n'))).toEqual(
      Array.from({ length: 20_000 }, (_, n) => n),
    );
  });
});

test('where there are too many programs, the one that nobody has needed for the longest time goes', async () => {
  const few = world(2);
  const [first, second, third] = [few.script(''), few.script(''), few.script('')];
  await result(first, initialize());
  await result(second, initialize());
  const listening = first.listen(targetCall(), new Heard());
  await result(third, initialize());
  expect(await result(first, request('echo'))).toEqual({ params: null });
  expect(await ask(second, request('echo')).end).toMatchObject({ kind: 'forgotten' });
  listening.cancel();
  await result(second, initialize());
  await few.close();
});

test('hundreds of conversations begun and left do not pile up, and leave nothing behind', async () => {
  const few = world(8);
  const mark = `gw-${process.pid}-${Date.now()}`;
  const answer = `while read -r line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done # ${mark}`;
  const left = () =>
    execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(mark) && !line.startsWith('Z'));
  for (let i = 0; i < 300; i++) await result(few.run('/bin/sh', ['-c', answer]), initialize());
  await until(() => few.programs.count <= 8);
  expect(left().length).toBeLessThanOrEqual(8);
  await few.close();
  expect(left()).toEqual([]);
});

test('there is a most of programs', async () => {
  const few = world(2);
  const servers = [few.script(''), few.script(''), few.script('')];
  const ends = await Promise.all(servers.map((server) => ask(server, initialize()).end));
  expect(ends.map((end) => (end?.kind === 'broken' ? end.message : end))).toEqual([
    null,
    null,
    '2 programs are running, which is the most',
  ]);
  await few.close();
  expect(few.programs.count).toBe(0);
  expect(await ask(few.script(''), initialize()).end).toMatchObject({ message: 'the gateway is ending' });
});
