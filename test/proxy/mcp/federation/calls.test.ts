import { describe, expect, test } from '@jest/globals';
import type { CallGuards, Guarded, McpItem } from '../../../../proxy/mcp/guard/contract.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { McpFacts } from '../../../../proxy/exchange/mcp-facts.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { untraced, traced } from '../../exchange/build.ts';
import { answered, ask, call, Client, ScriptedTarget, session, type Script } from './scripted.ts';

const echo: Script = (seen) => seen.answer({ content: [], said: seen.message.params ?? null });

describe('a call of one target', () => {
  test('passes a single target’s messages as they are, without copies', async () => {
    const only = new ScriptedTarget('a');
    const { client } = ask(session([only]), 'tools/call', { name: 'x_y' });
    const [seen] = only.seen;
    expect(seen?.message.params).toEqual({ name: 'x_y' });
    const note = { kind: 'notification', method: 'notifications/message', params: { data: 1 } } as const;
    const answer = { kind: 'result', id: 7, result: { content: 'whatever it is' } } as const;
    seen?.sink.onMessage(note);
    seen?.sink.onMessage(answer);
    expect(client.messages[0]).toBe(note);
    expect(client.messages[1]).toBe(answer);
    expect(client.failure).toBeNull();
  });

  test('has the target’s own names on the way there and the client’s on the way back', async () => {
    const a = new ScriptedTarget('a');
    const b = new ScriptedTarget('b', (seen) =>
      seen.answer({
        content: [
          { type: 'resource_link', uri: 'file:///r', name: 'r' },
          { type: 'resource', resource: { uri: 'memo:1', text: '' } },
          { type: 'text', text: 'file:///r' },
        ],
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: '1' } },
      }),
    );
    expect(await answered(session([a, b]), 'tools/call', { name: 'b_x_y', arguments: { name: 'b_z' } })).toEqual({
      content: [
        { type: 'resource_link', uri: 'b+file:///r', name: 'r' },
        { type: 'resource', resource: { uri: 'b+memo:1', text: '' } },
        { type: 'text', text: 'file:///r' },
      ],
      _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'b+1' } },
    });
    expect(b.seen[0]?.message.params).toEqual({ name: 'x_y', arguments: { name: 'b_z' } });
    expect(a.seen).toEqual([]);
  });

  test.each<[string, JsonObject, JsonObject, JsonObject, JsonObject]>([
    [
      'resources/read',
      { uri: 'b+file:///r' },
      { uri: 'file:///r' },
      { contents: [{ uri: 'file:///r' }] },
      { contents: [{ uri: 'b+file:///r' }] },
    ],
    [
      'resources/read',
      { uri: 'ui://b+f' },
      { uri: 'ui://f' },
      { contents: [{ uri: 'ui://f' }] },
      { contents: [{ uri: 'ui://b+f' }] },
    ],
    ['resources/subscribe', { uri: 'b+file:///r' }, { uri: 'file:///r' }, {}, {}],
    [
      'prompts/get',
      { name: 'b_p' },
      { name: 'p' },
      { messages: [{ role: 'user', content: { type: 'resource_link', uri: 'm:1' } }] },
      { messages: [{ role: 'user', content: { type: 'resource_link', uri: 'b+m:1' } }] },
    ],
    [
      'tasks/get',
      { taskId: 'b+4' },
      { taskId: '4' },
      { taskId: '4', status: 'working' },
      { taskId: 'b+4', status: 'working' },
    ],
    [
      'tools/call',
      { name: 'b_t', task: {} },
      { name: 't', task: {} },
      { task: { taskId: '4' } },
      { task: { taskId: 'b+4' } },
    ],
    [
      'tools/call',
      { name: 'b_t' },
      { name: 't' },
      { resultType: 'input_required', inputRequests: {} },
      { resultType: 'input_required', inputRequests: {} },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'b_p' }, argument: {} },
      { ref: { type: 'ref/prompt', name: 'p' }, argument: {} },
      { completion: { values: [] } },
      { completion: { values: [] } },
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'b+f:{x}' } },
      { ref: { type: 'ref/resource', uri: 'f:{x}' } },
      { completion: { values: [] } },
      { completion: { values: [] } },
    ],
  ])('%s of %j', async (method, params, own, result, told) => {
    const b = new ScriptedTarget('b', (seen) => seen.answer(result));
    expect(await answered(session([new ScriptedTarget('a'), b]), method, params)).toEqual(told);
    expect(b.seen[0]?.message.params).toEqual(own);
  });

  test.each<[string, JsonObject | undefined, string]>([
    ['tools/call', { name: 'x' }, 'Unknown tool: x'],
    ['tools/call', { name: 'c_x' }, 'Unknown tool: c_x'],
    ['tools/call', undefined, 'params.name is missing'],
    ['tools/call', { name: 7 }, 'params.name is missing'],
    ['prompts/get', { name: '' }, 'Unknown prompt: '],
    ['resources/read', { uri: 'file:///r' }, 'Unknown resource: file:///r'],
    ['tasks/cancel', { taskId: '1' }, 'Unknown task: 1'],
    ['completion/complete', { ref: 'b_p' }, 'params.ref is missing'],
  ])('%s of nothing: %j', async (method, params, message) => {
    const on = session([new ScriptedTarget('a'), new ScriptedTarget('b')]);
    expect(await answered(on, method, params)).toEqual({ code: -32602, message });
  });

  test('that no method has is not found', async () => {
    const on = session([new ScriptedTarget('a'), new ScriptedTarget('b')]);
    expect(await answered(on, 'tools/fly')).toMatchObject({ code: -32601 });
    const only = new ScriptedTarget('a', echo);
    expect(await answered(session([only]), 'tools/fly', { high: 1 })).toMatchObject({ said: { high: 1 } });
  });

  test.each<[string, JsonObject]>([
    ['tools/call', { name: 'a_x' }],
    ['prompts/get', { name: 'a_x' }],
    ['resources/read', { uri: 'a+m:1' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a_x' } }],
  ])('%s that is answered with something else is the target’s fault', async (method, params) => {
    const a = new ScriptedTarget('a', (seen) => seen.answer({ tools: [] }));
    expect(await answered(session([a, new ScriptedTarget('b')]), method, params)).toEqual({
      code: -32603,
      message: `upstream returned a result incompatible with \`${method}\``,
    });
  });

  test('ends when the answer is there, whatever the target still says', async () => {
    const only = new ScriptedTarget('a', (seen) => {
      seen.sink.onMessage({ kind: 'error', id: null, error: { code: 1, message: 'first' } });
      seen.answer({ content: [] });
      seen.notify('notifications/message');
      seen.fail({ kind: 'broken', message: 'late' });
    });
    const { client } = ask(session([only]), 'tools/call', { name: 'x' });
    expect(client.messages).toEqual([{ kind: 'error', id: 7, error: { code: 1, message: 'first' } }]);
  });

  test('ends when the target does not answer', async () => {
    const only = new ScriptedTarget('a', (seen) => seen.sink.onEnd(null));
    expect(await answered(session([only]), 'ping')).toMatchObject({ kind: 'broken' });
    const down = new ScriptedTarget('a', (seen) =>
      seen.fail({ kind: 'http', status: 503, response: null, message: 'x' }),
    );
    expect(await answered(session([down]), 'ping')).toMatchObject({ kind: 'http', status: 503 });
  });

  test('takes the client’s headers along, but for those of its body and session', async () => {
    const headers = Headers.from([
      ['Authorization', 'Bearer x'],
      ['content-length', '3'],
      ['mcp-session-id', 's'],
      ['Mcp-Name', 'a_x'],
      ['Mcp-Param-Q', '1'],
      ['accept', 'text/event-stream'],
    ]);
    const { exchange } = traced({ headers });
    const a = new ScriptedTarget('a', echo);
    const parts = { exchange, version: '2025-06-18' };
    await answered(session([a, new ScriptedTarget('b')]), 'tools/call', { name: 'a_x' }, parts);
    const seen = a.seen[0]?.call;
    expect([...(seen?.headers ?? [])]).toEqual([
      ['authorization', 'Bearer x'],
      ['mcp-param-q', '1'],
    ]);
    expect(seen?.version).toBe('2025-06-18');
    expect(seen?.trace).not.toBeNull();
    expect(headers.size).toBe(6);
  });

  test('is noted with the target and the target’s own name', async () => {
    const { exchange } = traced();
    const facts = new McpFacts();
    exchange.attributes.mcp = facts;
    const on = session([new ScriptedTarget('a', echo), new ScriptedTarget('b')]);
    await answered(on, 'tools/call', { name: 'a_x' }, { exchange });
    expect(facts.item).toEqual({ kind: 'tool', name: 'x', target: 'a' });
  });

  test('is paused, resumed and cancelled at its target', () => {
    const a = new ScriptedTarget('a');
    const { client, calling } = ask(session([a, new ScriptedTarget('b')]), 'tools/call', { name: 'a_x' });
    calling.pause();
    expect(a.seen[0]?.paused).toBe(true);
    calling.resume();
    expect(a.seen[0]?.paused).toBe(false);
    calling.cancel();
    expect(a.seen[0]?.cancelled).toBe(true);
    a.seen[0]?.answer({ content: [] });
    expect(client.messages).toEqual([]);
  });
});

describe('rules', () => {
  const only = (...allowed: string[]) => {
    const has = (item: McpItem): boolean => allowed.includes(`${item.kind} ${item.target}/${item.name}`);
    return { rules: { allows: (_: unknown, item: McpItem) => has(item), list: () => ({ allows: has, told() {} }) } };
  };

  test('hide items by the names that targets have, with and without prefix', async () => {
    const lists: Script = (seen) =>
      seen.answer({
        tools: [
          { name: 'x', _meta: { ui: { resourceUri: 'ui://f', visibility: [] } } },
          { name: 'y', _meta: { 'ui/resourceUri': 'ui://f' } },
          { name: 'z' },
        ],
        extra: 1,
      });
    const setup = only('tool a/x', 'tool a/y', 'tool b/x', 'resource b/ui://f');
    expect(await answered(session([new ScriptedTarget('a', lists)], setup), 'tools/list')).toEqual({
      tools: [{ name: 'x', _meta: { ui: { visibility: [] } } }, { name: 'y' }],
      extra: 1,
    });
    const two = session([new ScriptedTarget('a', lists), new ScriptedTarget('b', lists)], setup);
    expect(await answered(two, 'tools/list')).toEqual({
      tools: [
        { name: 'a_x', _meta: { ui: { visibility: [] } } },
        { name: 'a_y' },
        { name: 'b_x', _meta: { ui: { resourceUri: 'ui://b+f', visibility: [] } } },
      ],
    });
  });

  test.each<[string, JsonObject, string]>([
    ['tools/call', { name: 'a_x' }, 'Unknown tool: a_x'],
    ['prompts/get', { name: 'a_x' }, 'Unknown prompt: a_x'],
    ['resources/read', { uri: 'a+m:1' }, 'Unknown resource: a+m:1'],
    ['resources/subscribe', { uri: 'a+m:1' }, 'Unknown resource: a+m:1'],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'a_x' } }, 'Unknown prompt: a_x'],
    ['tasks/get', { taskId: 'a+1' }, 'Unknown task: a+1'],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: ['a+m:1'] } }, 'Unknown resource: a+m:1'],
  ])('refuse %s as if the item were not there', async (method, params, message) => {
    const a = new ScriptedTarget('a', echo);
    expect(await answered(session([a, new ScriptedTarget('b')], only()), method, params)).toEqual({
      code: -32602,
      message,
    });
    expect(a.seen).toEqual([]);
  });
});

describe('processors', () => {
  const pass: Guarded = { kind: 'pass', body: null };
  function guards(parts: Partial<CallGuards>): { guards: CallGuards } {
    return { guards: { looksAt: () => true, request: async () => pass, response: async () => pass, ...parts } };
  }

  test('change what the target gets and what the client sees, by the target’s own names', async () => {
    const heard: unknown[] = [];
    const setup = guards({
      async request({ targets, method, headers }, params) {
        heard.push([method, targets, params]);
        headers.set('x-seen', 'yes');
        return { kind: 'pass', body: { name: 'other', arguments: {} } };
      },
      async response(_call, result) {
        heard.push(result);
        return { kind: 'pass', body: { content: [{ type: 'resource_link', uri: 'm:2' }] } };
      },
    });
    const a = new ScriptedTarget('a', (seen) => seen.answer({ content: [{ type: 'resource_link', uri: 'm:1' }] }));
    const on = session([a, new ScriptedTarget('b')], setup);
    expect(await answered(on, 'tools/call', { name: 'a_x' })).toEqual({
      content: [{ type: 'resource_link', uri: 'a+m:2' }],
    });
    expect(a.seen[0]?.message.params).toEqual({ name: 'other', arguments: {} });
    expect(a.seen[0]?.call.headers.get('x-seen')).toBe('yes');
    expect(heard).toEqual([['tools/call', ['a'], { name: 'x' }], { content: [{ type: 'resource_link', uri: 'm:1' }] }]);
  });

  test('see lists once for all targets, without parameters and merged', async () => {
    const heard: unknown[] = [];
    const setup = guards({
      async request({ targets, headers }, params) {
        headers.set('x-seen', 'yes');
        heard.push([targets, params]);
        return pass;
      },
      async response(_call, result) {
        heard.push(result);
        return pass;
      },
    });
    const targets = ['a', 'b'].map(
      (name) => new ScriptedTarget(name, (seen) => seen.answer({ tools: [{ name: 'x' }] })),
    );
    await answered(session(targets, setup), 'tools/list');
    expect(heard).toEqual([[['a', 'b'], null], { tools: [{ name: 'a_x' }, { name: 'b_x' }] }]);
    expect(targets.map(({ seen }) => seen[0]?.call.headers.get('x-seen'))).toEqual(['yes', 'yes']);
  });

  test('see of a single target’s list what the client may see', async () => {
    const heard: unknown[] = [];
    const setup = guards({
      async response(_call, result) {
        heard.push(result);
        return pass;
      },
    });
    const allows = (item: McpItem): boolean => item.name === 'x';
    const rules = { allows: (_: unknown, item: McpItem) => allows(item), list: () => ({ allows, told() {} }) };
    const a = new ScriptedTarget('a', (seen) => seen.answer({ tools: [{ name: 'x' }, { name: 'y' }] }));
    const shown = { tools: [{ name: 'x' }] };
    expect(await answered(session([a], { ...setup, rules }), 'tools/list')).toEqual(shown);
    expect(heard).toEqual([shown]);
  });

  test.each(['tools/call', 'tools/list', 'initialize'])('reject %s before and after', async (method) => {
    const reject: Guarded = { kind: 'reject', error: { code: -32001, message: 'no' } };
    const script: Script = (seen) =>
      seen.answer({ content: [], tools: [], protocolVersion: '2025-11-25', capabilities: {} });
    for (const phase of ['request', 'response'] as const) {
      const targets = ['a', 'b'].map((name) => new ScriptedTarget(name, script));
      const on = session(targets, guards({ [phase]: async () => reject }));
      expect(await answered(on, method, { name: 'a_x' })).toEqual(reject.error);
      expect(targets[0]?.seen.length).toBe(phase === 'request' ? 0 : 1);
    }
  });

  test('that break end the call', async () => {
    const bad = guards({ request: () => Promise.reject(new Error('lost')) });
    const on = session([new ScriptedTarget('a'), new ScriptedTarget('b')], bad);
    expect(await answered(on, 'tools/call', { name: 'a_x' })).toEqual({ code: -32603, message: 'lost' });
    expect(await answered(on, 'tools/list')).toEqual({ code: -32603, message: 'lost' });
  });

  test('that are still at it when the client leaves keep the target from being called', async () => {
    const gate = Promise.withResolvers<Guarded>();
    const a = new ScriptedTarget('a');
    const on = session([a, new ScriptedTarget('b')], guards({ request: () => gate.promise }));
    const client = new Client();
    const calling = on.request(
      { kind: 'request', id: 1, method: 'tools/call', params: { name: 'a_x' } },
      call(),
      client,
    );
    calling.cancel();
    gate.resolve(pass);
    await gate.promise;
    await Promise.resolve();
    expect(a.seen).toEqual([]);
    expect(untraced().trace).toBeNull();
  });
});
