import { describe, expect, test } from '@jest/globals';
import type { Script } from './scripted.ts';
import { answered, ask, call, Client, federation, ScriptedTarget, session } from './scripted.ts';

const tools =
  (...names: string[]): Script =>
  (seen) =>
    seen.answer({ tools: names.map((name) => ({ name })) });

/** Pages of two, of tools `t0`, `t1`, …; a cursor is the number of the next. */
function paged(count: number): Script {
  return (seen) => {
    const from = Number(seen.message.params?.['cursor'] ?? 0);
    const own = Array.from({ length: Math.min(2, count - from) }, (_, i) => ({ name: `t${from + i}` }));
    seen.answer({ tools: own, ...(from + 2 < count ? { nextCursor: String(from + 2) } : {}) });
  };
}

describe('merged lists', () => {
  test('are in the order of the targets, whoever answers first', async () => {
    const a = new ScriptedTarget('a');
    const b = new ScriptedTarget('b', tools('x'));
    const { client } = ask(session([a, b]), 'tools/list');
    a.seen[0]?.answer({ tools: [{ name: 'x' }, { name: 'y' }] });
    expect((await client.ended).result).toEqual({ tools: [{ name: 'a_x' }, { name: 'a_y' }, { name: 'b_x' }] });
  });

  test('rename addresses of resources, templates and user interfaces', async () => {
    const on = session([
      new ScriptedTarget('a', ({ message, sink }) => {
        const results = {
          'tools/list': {
            tools: [{ name: 't', _meta: { ui: { resourceUri: 'ui://f' }, 'ui/resourceUri': 'ui://f', other: 1 } }],
          },
          'resources/list': { resources: [{ uri: 'file:///x', name: 'x' }] },
          'resources/templates/list': { resourceTemplates: [{ uriTemplate: 'file:///{p}', name: 'p' }] },
        };
        sink.onMessage({ kind: 'result', id: message.id, result: Reflect.get(results, message.method) });
      }),
      new ScriptedTarget('b', (seen) => seen.error(-32601, 'Method not found')),
    ]);
    expect(await answered(on, 'tools/list')).toEqual({
      tools: [{ name: 'a_t', _meta: { ui: { resourceUri: 'ui://a+f' }, 'ui/resourceUri': 'ui://a+f', other: 1 } }],
    });
    expect(await answered(on, 'resources/list')).toEqual({ resources: [{ uri: 'a+file:///x', name: 'x' }] });
    expect(await answered(on, 'resources/templates/list')).toEqual({
      resourceTemplates: [{ uriTemplate: 'a+file:///{p}', name: 'p' }],
    });
  });

  test('of targets that have no such things are empty', async () => {
    const none: Script = (seen) => seen.error(-32601, 'Method not found');
    const error = { code: -32601, message: 'Method not found' };
    const so: Script = (seen) => seen.fail({ kind: 'http', status: 404, response: null, message: 'status 404', error });
    const on = session([new ScriptedTarget('a', none), new ScriptedTarget('b', so)]);
    expect(await answered(on, 'prompts/list')).toEqual({ prompts: [] });
  });

  test('tell modern clients to keep nothing', async () => {
    const on = session([new ScriptedTarget('a', tools('x')), new ScriptedTarget('b', tools())]);
    const result = await answered(on, 'tools/list', undefined, { era: 'modern' });
    expect(result).toEqual({ tools: [{ name: 'a_x' }], resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
  });

  test('that are no lists are the target’s fault', async () => {
    const wrong: Script = (seen) => seen.answer({ prompts: [] });
    const on = session([new ScriptedTarget('a', wrong), new ScriptedTarget('b', tools('x'))]);
    expect(await answered(on, 'tools/list')).toEqual({
      code: -32603,
      message: 'upstream returned a result incompatible with `tools/list`',
    });
  });

  test('of 10,000 tools of two targets come whole and in order', async () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `tool-${i}`);
    const on = session([new ScriptedTarget('a', tools(...names)), new ScriptedTarget('b', tools(...names))]);
    expect(await answered(on, 'tools/list')).toEqual({
      tools: ['a', 'b'].flatMap((target) => names.map((name) => ({ name: `${target}_${name}` }))),
    });
  });
});

describe('cursors', () => {
  test('walk all targets to their ends, each asked only for what it has left', async () => {
    const a = new ScriptedTarget('a', paged(5));
    const b = new ScriptedTarget('b', paged(3));
    const c = new ScriptedTarget('c', paged(1));
    const names: string[] = [];
    let cursor: string | undefined = undefined;
    for (let page = 0; page < 3; page++) {
      // Each page may be asked for in another thread.
      const on = session([a, b, c]);
      const result = await answered(on, 'tools/list', cursor === undefined ? undefined : { cursor });
      const { tools: listed, nextCursor } = result as { tools: { name: string }[]; nextCursor?: string };
      names.push(...listed.map(({ name }) => name));
      cursor = nextCursor;
    }
    expect(cursor).toBeUndefined();
    expect(names).toEqual(['a_t0', 'a_t1', 'b_t0', 'b_t1', 'c_t0', 'a_t2', 'a_t3', 'b_t2', 'a_t4']);
    expect([a, b, c].map((target) => target.seen.length)).toEqual([3, 2, 1]);
  });

  test.each([[null], [new Uint8Array(32)]])('that the gateway has not made are refused', async (cursorKey) => {
    const on = session([new ScriptedTarget('a', paged(9)), new ScriptedTarget('b', paged(9))], { cursorKey });
    const { nextCursor } = (await answered(on, 'tools/list')) as { nextCursor: string };
    const forged = Buffer.from('["tools/list",["c","1"]]').toString('base64url');
    for (const cursor of ['', 'x', `${nextCursor}=`, nextCursor.slice(1), forged, 7, 'a'.repeat(300_000)])
      expect(await answered(on, 'tools/list', { cursor })).toEqual({ code: -32602, message: 'invalid cursor' });
    const other = await answered(on, 'prompts/list', { cursor: nextCursor });
    expect(other).toEqual({ code: -32602, message: 'invalid cursor' });
  });

  test('that somebody else has made are refused where there is a key', async () => {
    const setup = { cursorKey: new Uint8Array(32).fill(7) };
    const on = session([new ScriptedTarget('a', paged(9)), new ScriptedTarget('b', paged(9))], setup);
    const cursor = Buffer.from('["tools/list",["a","4"]]').toString('base64url');
    expect(await answered(on, 'tools/list', { cursor })).toEqual({ code: -32602, message: 'invalid cursor' });
  });

  test('of a single target pass as they are', async () => {
    const only = new ScriptedTarget('a', paged(4));
    expect(await answered(session([only]), 'tools/list', { cursor: '2' })).toEqual({
      tools: [{ name: 't2' }, { name: 't3' }],
    });
  });
});

describe('names without targets', () => {
  const never = { prefixMode: 'never' } as const;

  test('of more than one target are nobody’s', async () => {
    const on = session([new ScriptedTarget('a', tools('x', 'y')), new ScriptedTarget('b', tools('y', 'z'))], never);
    expect(await answered(on, 'tools/list')).toEqual({ tools: [{ name: 'x' }, { name: 'z' }] });
    expect(await answered(on, 'tools/call', { name: 'y' })).toEqual({
      code: -32602,
      message: 'tool y is served by multiple targets',
    });
  });

  test('of more than one target that the client may not use are not told of', async () => {
    const none = { allows: () => false, list: () => ({ allows: () => false, told() {} }) };
    const targets = [new ScriptedTarget('a', tools('x')), new ScriptedTarget('b', tools('x'))];
    expect(await answered(session(targets, { ...never, rules: none }), 'tools/call', { name: 'x' })).toEqual({
      code: -32602,
      message: 'Unknown tool: x',
    });
  });

  test('are compared over all pages', async () => {
    const on = session([new ScriptedTarget('a', paged(5)), new ScriptedTarget('b', tools('t4', 'u'))], never);
    expect(await answered(on, 'tools/list')).toEqual({
      tools: ['t0', 't1', 't2', 't3', 'u'].map((name) => ({ name })),
    });
  });

  test('are looked up under ids that no other call of the session has', () => {
    const a = new ScriptedTarget('a');
    const on = session([a, new ScriptedTarget('b')], never);
    for (const id of [1, '1', 2])
      on.request({ kind: 'request', id, method: 'tools/call', params: { name: 'x' } }, call(), new Client());
    expect(new Set(a.seen.map(({ message }) => message.id)).size).toBe(3);
  });

  test('are looked up before a call, with the pages of all targets', async () => {
    const b = new ScriptedTarget('b', (seen) =>
      seen.message.method === 'tools/call' ? seen.answer({ content: [] }) : paged(5)(seen),
    );
    const on = session([new ScriptedTarget('a', (seen) => seen.error(-32601, 'no')), b], never);
    expect(await answered(on, 'tools/call', { name: 't4', arguments: { q: 1 } })).toEqual({ content: [] });
    expect(b.seen.map(({ message }) => message.id)).toEqual(['gw-1-n-7', 'gw-2-n-7', 'gw-3-n-7', 7]);
    expect(b.seen.at(-1)?.message.params).toEqual({ name: 't4', arguments: { q: 1 } });
    expect(await answered(on, 'tools/call', { name: 'none' })).toMatchObject({ message: 'Unknown tool: none' });
  });

  test('are looked up once for clients without sessions, each in the name of its credentials', async () => {
    const a = new ScriptedTarget('a', (seen) =>
      seen.message.method === 'tools/call' ? seen.answer({ content: [] }) : tools('x')(seen),
    );
    const gateway = federation([a, new ScriptedTarget('b', tools('y'))], { ...never, stateful: false });
    const calling = async (name: string, token?: string): Promise<unknown> => {
      const opened = gateway.open();
      if ('reason' in opened) throw new Error(opened.message);
      const { exchange } = call();
      if (token !== undefined) exchange.request.headers.set('authorization', token);
      const result = await answered(opened, 'tools/call', { name }, { exchange });
      await opened.close(null);
      return result;
    };
    for (let i = 0; i < 3; i++) expect(await calling('x')).toEqual({ content: [] });
    expect(a.methods()).toEqual(['tools/list', 'tools/call', 'tools/call', 'tools/call']);
    await calling('x', 'Bearer other');
    expect(a.methods().filter((method) => method === 'tools/list')).toHaveLength(2);
    // What nobody is known to have may be new.
    expect(await calling('z')).toMatchObject({ message: 'Unknown tool: z' });
    expect(a.methods().filter((method) => method === 'tools/list')).toHaveLength(3);
  });

  test('of targets whose lists never end are not found', async () => {
    const endless: Script = (seen) => seen.answer({ tools: [], nextCursor: 'again' });
    const a = new ScriptedTarget('a', endless);
    const on = session([a, new ScriptedTarget('b', tools())], never);
    expect(await answered(on, 'tools/call', { name: 'x' })).toMatchObject({ code: -32603 });
    expect(a.seen).toHaveLength(64);
  });

  test('leave failing targets out of the look-up only where that is wanted', async () => {
    const dead = new ScriptedTarget('a', (seen) => seen.fail({ kind: 'broken', message: 'gone' }));
    const b = new ScriptedTarget('b', (seen) =>
      seen.message.method === 'tools/call' ? seen.answer({ content: [] }) : tools('x')(seen),
    );
    expect(await answered(session([dead, b], never), 'tools/call', { name: 'x' })).toEqual({
      kind: 'broken',
      message: 'gone',
    });
    const open = session([dead, b], { ...never, failureMode: 'failOpen' });
    expect(await answered(open, 'tools/call', { name: 'x' })).toEqual({ content: [] });
  });

  test('that a client has lost interest in are not called', async () => {
    const a = new ScriptedTarget('a');
    const { calling, client } = ask(session([a, new ScriptedTarget('b', tools('x'))], never), 'tools/call', {
      name: 'x',
    });
    calling.cancel();
    expect(a.seen[0]?.cancelled).toBe(true);
    a.seen[0]?.answer({ tools: [] });
    await Promise.resolve();
    expect(client.messages).toEqual([]);
  });
});

describe('cached lists', () => {
  const handshake: Script = (seen) =>
    seen.message.method === 'initialize'
      ? seen.answer({ protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo: {} })
      : tools('x')(seen);

  async function begun(count: number) {
    const targets = Array.from({ length: count }, (_, i) => new ScriptedTarget(`t${i}`, handshake));
    const on = session(targets);
    await answered(on, 'initialize', { protocolVersion: '2025-11-25' });
    return {
      on,
      targets,
      asked: () => targets.map((target) => target.methods().filter((m) => m === 'tools/list').length),
    };
  }

  test('serve while the session hears of changes, until one is told', async () => {
    const { on, targets, asked } = await begun(2);
    on.listen(call(), new Client());
    const first = await answered(on, 'tools/list');
    expect(await answered(on, 'tools/list')).toEqual(first);
    expect(asked()).toEqual([1, 1]);
    targets[1]?.streams[0]?.notify('notifications/tools/list_changed');
    await answered(on, 'tools/list');
    expect(asked()).toEqual([1, 2]);
  });

  test('are not used when nobody listens for changes', async () => {
    const { on, asked } = await begun(2);
    await answered(on, 'tools/list');
    await answered(on, 'tools/list');
    expect(asked()).toEqual([2, 2]);
  });

  test('are not kept when the list changes while it is on its way', async () => {
    const targets = ['a', 'b'].map(
      (name) =>
        new ScriptedTarget(name, (seen) =>
          name === 'a' && seen.message.method === 'tools/list' ? undefined : handshake(seen),
        ),
    );
    const on = session(targets);
    await answered(on, 'initialize', { protocolVersion: '2025-11-25' });
    on.listen(call(), new Client());
    for (let asked = 1; asked <= 2; asked++) {
      const { client } = ask(on, 'tools/list');
      targets[0]?.streams[0]?.notify('notifications/tools/list_changed');
      targets[0]?.seen.at(-1)?.answer({ tools: [] });
      await client.ended;
      expect(targets[0]?.seen).toHaveLength(1 + asked);
    }
    expect(targets[1]?.seen).toHaveLength(2);
  });
});
