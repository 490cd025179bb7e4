import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/shared/json.ts';
import type { TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { answered, ask, call, Client, federation, ScriptedTarget, session, type Script } from './scripted.ts';

const hello =
  (parts: JsonObject = {}): Script =>
  (seen) =>
    seen.answer({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' }, ...parts });
const gone: TargetFailure = { kind: 'broken', message: 'gone' };
const dies: Script = (seen) => seen.fail(gone);

function begin(targets: readonly ScriptedTarget[], setup = {}) {
  const opened = federation(targets, setup).open({
    identify: (members) => members.map(({ target, state }) => `${target}=${state?.session}`).join(),
  });
  if ('status' in opened) throw new Error(opened.message);
  return opened;
}

describe('initialize', () => {
  test('of one target is its own', async () => {
    const result = { protocolVersion: '2025-06-18', capabilities: { x: {} }, serverInfo: {}, odd: 1 };
    const on = begin([new ScriptedTarget('a', (seen) => seen.answer(result))]);
    expect(on.id).toBeNull();
    expect(await answered(on, 'initialize', { protocolVersion: '2025-11-25' })).toEqual(result);
    expect(on.id).toBe('a=s-a');
    expect(on.version).toBe('2025-06-18');
  });

  test('of several is the least that all agree on and the most that any can do', async () => {
    const a = hello({
      protocolVersion: '2025-06-18',
      capabilities: { logging: {}, extensions: { e: { x: 1 }, f: {} }, tasks: { list: {} } },
      instructions: 'Be kind.',
    });
    const b = hello({
      capabilities: { completions: {}, extensions: { e: { x: 2 }, g: { y: 1 } }, tasks: { cancel: {} } },
      instructions: '',
    });
    const on = begin([new ScriptedTarget('a', a), new ScriptedTarget('b', b)]);
    expect(await answered(on, 'initialize', { protocolVersion: '2025-11-25' })).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
        tasks: { list: {}, cancel: {} },
        extensions: { e: {}, f: {}, g: { y: 1 } },
      },
      serverInfo: { name: 'gw', version: '1' },
      instructions: expect.stringMatching(/\n\n\[a\]\nBe kind\.$/),
    });
    expect(on.id).toBe('a=s-a,b=s-b');
  });

  test('has its id before the client hears the answer', async () => {
    const on = begin([new ScriptedTarget('a', hello()), new ScriptedTarget('b', hello())]);
    let id: string | null = null;
    const ended = Promise.withResolvers<void>();
    on.request({ kind: 'request', id: 1, method: 'initialize', params: {} }, call(), {
      onMessage: () => (id = on.id),
      onEnd: () => ended.resolve(),
    });
    await ended.promise;
    expect(id).toBe('a=s-a,b=s-b');
  });

  test('that fails leaves no conversations behind', async () => {
    const targets = [new ScriptedTarget('a', hello()), new ScriptedTarget('b', dies)];
    const on = begin(targets);
    expect(await answered(on, 'initialize')).toEqual(gone);
    expect(on.id).toBeNull();
    expect(targets.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  test('that the client does not wait for leaves none either', () => {
    const targets = [new ScriptedTarget('a', hello()), new ScriptedTarget('b')];
    ask(begin(targets), 'initialize').calling.cancel();
    expect(targets[1]?.seen[0]?.cancelled).toBe(true);
    expect(targets.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  test('goes on without targets that fail where that is wanted', async () => {
    const on = begin([new ScriptedTarget('a', dies), new ScriptedTarget('b', hello())], { failureMode: 'failOpen' });
    expect(await answered(on, 'initialize')).toMatchObject({ protocolVersion: '2025-11-25' });
    const none = begin([new ScriptedTarget('a', dies), new ScriptedTarget('b', dies)], { failureMode: 'failOpen' });
    expect(await answered(none, 'initialize')).toEqual(gone);
  });

  test('promises servers nothing that cannot be kept without a session', async () => {
    const params = { protocolVersion: '2025-11-25', capabilities: { roots: {}, sampling: {}, elicitation: {}, x: {} } };
    for (const stateful of [true, false]) {
      const a = new ScriptedTarget('a', hello());
      await answered(session([a], { stateful }), 'initialize', params);
      const expected = stateful ? params : { ...params, capabilities: { x: {} } };
      expect(a.seen[0]?.message.params).toEqual(expected);
    }
  });
});

describe('no targets', () => {
  test('are refused, or a session of which nothing can be asked', async () => {
    expect(federation([]).open()).toMatchObject({ status: 503, message: 'no backends configured' });
    const on = begin([], { failureMode: 'failOpen' });
    expect(await answered(on, 'initialize', { protocolVersion: '2025-06-18' })).toMatchObject({
      protocolVersion: '2025-06-18',
    });
    expect(await answered(on, 'tools/list')).toEqual({ code: -32603, message: 'no upstreams available' });
  });
});

describe('server/discover', () => {
  const versions =
    (...supportedVersions: string[]): Script =>
    (seen) =>
      seen.answer({ supportedVersions, capabilities: {} });

  test('tells the versions that all targets speak', async () => {
    const on = session([
      new ScriptedTarget('a', versions('2026-07-28', '2025-11-25', '2030-01-01')),
      new ScriptedTarget('b', versions('2030-01-01', '2026-07-28')),
    ]);
    const result = await answered(on, 'server/discover', {}, { era: 'modern' });
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  test.each<[string, Script]>([
    ['method not found', (seen) => seen.error(-32601, 'no')],
    ['an unsupported version', (seen) => seen.error(-32022, 'no')],
    ['HTTP 404', (seen) => seen.fail({ kind: 'http', status: 404, response: null, message: 'no' })],
  ])('surfaces %s even where failures are left out', async (_, script) => {
    const targets = [new ScriptedTarget('a', versions('2026-07-28')), new ScriptedTarget('b', script)];
    const result = await answered(session(targets, { failureMode: 'failOpen' }), 'server/discover', {});
    expect(result).toMatchObject({ message: 'no' });
  });
});

describe('ping and log levels', () => {
  test.each(['ping', 'logging/setLevel'])('%s is fine when everybody says so', async (method) => {
    const yes: Script = (seen) => seen.answer({});
    const no: Script = (seen) => seen.error(-32601, 'no');
    const a = new ScriptedTarget('a', yes);
    expect(await answered(session([a, new ScriptedTarget('b', no)]), method, { level: 'info' })).toEqual({});
    expect(a.seen[0]?.message.params).toEqual({ level: 'info' });
    const nobody = session([new ScriptedTarget('a', no), new ScriptedTarget('b', no)]);
    expect(await answered(nobody, method)).toMatchObject({ code: -32601 });
    const odd = session([a, new ScriptedTarget('b', (seen) => seen.answer({ x: 1 }))]);
    expect(await answered(odd, method)).toMatchObject({ code: -32603 });
  });
});

describe('failures', () => {
  const http: TargetFailure = { kind: 'http', status: 502, response: null, message: 'bad' };
  const fine: Script = (seen) => seen.answer({ tools: [{ name: 'x' }] });

  test.each<[string, Script, unknown]>([
    ['a broken connection', dies, gone],
    ['a status', (seen) => seen.fail(http), http],
    ['an error', (seen) => seen.error(-5, 'no'), { code: -5, message: 'no' }],
    ['an early end', (seen) => seen.sink.onEnd(null), { kind: 'broken', message: expect.any(String) }],
  ])('of one target by %s are those of all, or left out', async (_, script, told) => {
    const slow = new ScriptedTarget('c');
    const targets = [new ScriptedTarget('a', fine), new ScriptedTarget('b', script), slow];
    expect(await answered(session(targets), 'tools/list')).toEqual(told);
    expect(slow.seen[0]?.cancelled).toBe(true);
    const open = session(targets.slice(0, 2), { failureMode: 'failOpen' });
    expect(await answered(open, 'tools/list')).toEqual({ tools: [{ name: 'a_x' }] });
    const none = session([new ScriptedTarget('a', script), new ScriptedTarget('b', script)], {
      failureMode: 'failOpen',
    });
    expect(await answered(none, 'tools/list')).toEqual(told);
  });

  test('of targets that cannot be set up are like those of dead ones', async () => {
    const bad = new ScriptedTarget('b');
    bad.connect = () => {
      throw new Error('no such program');
    };
    const targets = [new ScriptedTarget('a', fine), bad];
    expect(await answered(session(targets), 'tools/list')).toMatchObject({
      kind: 'refused',
      message: 'target b cannot be set up: no such program',
    });
    expect(await answered(session(targets, { failureMode: 'failOpen' }), 'tools/list')).toEqual({
      tools: [{ name: 'a_x' }],
    });
  });

  test('do not matter to a call of another target', async () => {
    const on = session([
      new ScriptedTarget('a', (seen) => seen.answer({ content: [] })),
      new ScriptedTarget('b', dies),
    ]);
    expect(await answered(on, 'tools/call', { name: 'a_x' })).toEqual({ content: [] });
    expect(await answered(on, 'tools/call', { name: 'b_x' })).toEqual(gone);
  });

  test('of notifications are told, or left out', async () => {
    const targets = [new ScriptedTarget('a'), new ScriptedTarget('b')];
    const [a] = targets;
    if (a !== undefined) a.postFailure = gone;
    const note = { kind: 'notification', method: 'notifications/initialized', params: undefined } as const;
    expect(await session(targets).post(note, call())).toEqual(gone);
    expect(await session(targets, { failureMode: 'failOpen' }).post(note, call())).toBeNull();
    expect(targets[1]?.posted).toEqual([note, note]);
  });
});

describe('what is under way', () => {
  test('sums up the progress of several targets, and passes all else in order', async () => {
    const targets = [new ScriptedTarget('a'), new ScriptedTarget('b')];
    const { client } = ask(session(targets), 'tools/list', { _meta: { progressToken: 'p' } });
    const [a, b] = targets.map(({ seen }) => seen[0]);
    a?.notify('notifications/progress', { progressToken: 'p', progress: 1, total: 2 });
    b?.notify('notifications/progress', { progressToken: 'p', progress: 4 });
    b?.notify('notifications/progress', { progressToken: 'p', progress: 5, total: 5, message: 'm' });
    a?.notify('notifications/message', { data: 'x' });
    a?.answer({ tools: [] });
    b?.answer({ tools: [] });
    await client.ended;
    expect(client.messages.map((m) => (m.kind === 'notification' ? m.params : m.kind))).toEqual([
      { progressToken: 'p', progress: 1, total: 2 },
      { progressToken: 'p', progress: 5 },
      { progressToken: 'p', progress: 6, total: 7, message: 'm' },
      { data: 'x' },
      'result',
    ]);
  });

  test('ends everywhere when the client says that it is cancelled', async () => {
    const targets = [new ScriptedTarget('a'), new ScriptedTarget('b')];
    const on = session(targets);
    const { client } = ask(on, 'tools/call', { name: 'a_x' });
    const note = { kind: 'notification', method: 'notifications/cancelled', params: { requestId: 7 } } as const;
    await on.post({ ...note, params: { requestId: '7' } }, call());
    expect(client.failure).toBeUndefined();
    await on.post(note, call());
    expect(targets[0]?.posted.at(-1)).toEqual(note);
    expect(targets[0]?.seen[0]?.cancelled).toBe(true);
    expect(client.failure).toBeNull();
    expect(client.messages).toEqual([]);
  });

  test('ends as a whole where two requests have the same id', async () => {
    const [a, b] = [new ScriptedTarget('a'), new ScriptedTarget('a')];
    const [one, other] = [session([a]), session([b])];
    const cancelled = [ask(one, 'tools/call', { name: 'x' }), ask(one, 'tools/call', { name: 'x' })];
    const ended = [ask(other, 'tools/call', { name: 'x' }), ask(other, 'tools/call', { name: 'x' })];
    await one.post({ kind: 'notification', method: 'notifications/cancelled', params: { requestId: 7 } }, call());
    await other.close(call());
    for (const { client } of [...cancelled, ...ended]) expect(client.failure).toBeNull();
    for (const seen of [...a.seen, ...b.seen]) expect(seen.cancelled).toBe(true);
  });

  test('ends with the session', async () => {
    const a = new ScriptedTarget('a');
    const on = session([a]);
    const { client } = ask(on, 'tools/call', { name: 'x' });
    const stream = new Client();
    on.listen(call(), stream);
    await on.close(call());
    await on.close(call());
    expect([a.seen[0]?.cancelled, a.streams[0]?.cancelled, a.closed]).toEqual([true, true, 1]);
    expect([client.failure, stream.failure]).toEqual([null, null]);
    expect(await answered(on, 'tools/call', { name: 'x' })).toMatchObject({ kind: 'broken' });
  });

  test('takes newer rules on, with the same conversations', async () => {
    const a = new ScriptedTarget('a', (seen) => seen.answer({ content: [] }));
    const on = session([a]);
    const none = { rules: { allows: () => false, list: () => ({ allows: () => false, told() {} }) } };
    on.adopt(federation([a], none).plan);
    expect(await answered(on, 'tools/call', { name: 'x' })).toMatchObject({ message: 'Unknown tool: x' });
  });
});

describe('requests of targets', () => {
  const asks =
    (id: string | number, params?: JsonObject): Script =>
    (seen) =>
      seen.sink.onMessage({ kind: 'request', id, method: 'sampling/createMessage', params });

  test.each([
    [1, 'gw_b_n_1'],
    [-1.5, 'gw_b_n_-1.5'],
    ['1', 'gw_b_s_1'],
    ['gw_a_n_1', 'gw_b_s_gw_a_n_1'],
    ['', 'gw_b_s_'],
  ])('%p reach the client as %p, and its answer reaches the target with the id it had', async (id, told) => {
    const targets = [new ScriptedTarget('a'), new ScriptedTarget('b', asks(id))];
    const on = session(targets);
    const { client } = ask(on, 'tools/call', { name: 'b_x' });
    expect(client.last).toMatchObject({ kind: 'request', id: told });
    expect(await on.post({ kind: 'result', id: told, result: { r: 1 } }, call())).toBeNull();
    await on.post({ kind: 'error', id: told, error: { code: 1, message: 'no' } }, call());
    expect(targets[1]?.posted).toEqual([
      { kind: 'result', id, result: { r: 1 } },
      { kind: 'error', id, error: { code: 1, message: 'no' } },
    ]);
    expect(targets[0]?.posted).toEqual([]);
  });

  test('keep progress tokens of targets apart', async () => {
    const targets = ['a', 'b'].map((name) => new ScriptedTarget(name, asks(1, { _meta: { progressToken: 5 } })));
    const on = session(targets);
    const { client } = ask(on, 'tools/call', { name: 'b_x' });
    expect(client.last).toMatchObject({ params: { _meta: { progressToken: 'gw_b_n_5' } } });
    const params = { progressToken: 'gw_b_n_5', progress: 1 };
    await on.post({ kind: 'notification', method: 'notifications/progress', params }, call());
    expect(targets[0]?.posted).toEqual([]);
    expect(targets[1]?.posted).toMatchObject([{ params: { progressToken: 5, progress: 1 } }]);
    targets[1]?.seen[0]?.notify('notifications/cancelled', { requestId: 1 });
    expect(client.last).toMatchObject({ params: { requestId: 'gw_b_n_1' } });
  });

  test('are not mistaken for others by forged answers', async () => {
    const targets = [new ScriptedTarget('a'), new ScriptedTarget('b')];
    const on = session(targets);
    for (const id of [1, 'x', 'gw_c_n_1', 'gw_b_n_x', 'gw_b_n_ 1', 'gw_b_n_Infinity', 'gw_b', 'gw__n_1'])
      expect(await on.post({ kind: 'result', id, result: {} }, call())).toMatchObject({ kind: 'denied', status: 400 });
    expect(await on.post({ kind: 'error', id: null, error: { code: 1, message: '' } }, call())).toBeNull();
    expect(targets.flatMap(({ posted }) => posted)).toEqual([]);
    const only = new ScriptedTarget('a');
    await session([only]).post({ kind: 'result', id: 1, result: {} }, call());
    expect(only.posted).toEqual([{ kind: 'result', id: 1, result: {} }]);
  });

  test('end the call of a modern client, which has no way to answer', async () => {
    for (const [method, params] of [
      ['tools/call', { name: 'a_x' }],
      ['tools/list', {}],
    ] as const) {
      const targets = [new ScriptedTarget('a', asks(1)), new ScriptedTarget('b')];
      const result = await answered(session(targets), method, params, { era: 'modern' });
      expect(result).toMatchObject({ code: -32603, message: expect.stringContaining('input_required') });
    }
  });

  test('are declined by the gateway where no answer could find back', () => {
    const a = new ScriptedTarget('a', asks(3));
    const { client } = ask(session([a], { stateful: false }), 'tools/call', { name: 'x' });
    expect(client.messages).toEqual([]);
    expect(a.posted).toMatchObject([{ kind: 'error', id: 3 }]);
  });
});
