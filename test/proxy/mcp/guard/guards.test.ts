import { afterEach, describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { McpFacts } from '../../../../proxy/exchange/mcp-facts.ts';
import { compileCallGuards } from '../../../../proxy/mcp/guard/guards.ts';
import { compileItemRules } from '../../../../proxy/mcp/guard/rules.ts';
import { StatusError, structJson } from '../../../services/envoy.ts';
import { serveExtMcp } from '../../../services/ext-mcp.ts';
import { Rig } from '../../backends/rig.ts';
import { traced, untraced } from '../../exchange/build.ts';
import { context, deps } from '../../policy/build.ts';
import { callOf, guarding } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

const passing = () => ({ pass: {} });
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const echo = { name: 'echo', arguments: { text: 'hello' } };

describe('processors of calls', () => {
  test('are none where none are written', () => {
    expect(compileCallGuards(undefined, context())).toBeNull();
    expect(compileCallGuards({ processors: [] }, context())).toBeNull();
  });

  test('are told the method, the target, the parameters and the headers', async () => {
    const { guards, servers, counted } = await guarding(rig, { at: passing });
    const headers = Headers.from([
      ['X-Team', 'red'],
      ['x-team', 'blue'],
      ['authorization', 'Bearer t'],
    ]);
    const exchange = untraced({ method: 'POST', target: '/mcp?a=b', headers });
    const guarded = await guards.request(callOf({ exchange }), echo);
    expect(guarded).toEqual({ kind: 'pass', body: echo });
    expect(servers[0]?.asked).toEqual([
      {
        kind: 'request',
        serviceNames: ['time'],
        method: 'tools/call',
        body: echo,
        headers: [
          ':method: POST',
          ':scheme: http',
          ':authority: shop.test',
          ':path: /mcp?a=b',
          'x-team: red',
          'x-team: blue',
          'authorization: Bearer t',
        ],
      },
    ]);
    expect(counted).toEqual(['Request Allow']);
  });

  test('are told the result, and no headers', async () => {
    const { guards, servers, counted } = await guarding(rig, { at: passing });
    const result = { content: [{ type: 'text', text: 'hello' }] };
    expect(await guards.response(callOf(), result)).toEqual({ kind: 'pass', body: result });
    expect(servers[0]?.asked).toMatchObject([{ kind: 'response', body: result, headers: [] }]);
    expect(counted).toEqual(['Response Allow']);
  });

  test('see the headers that they may, and no others', async () => {
    const requestHeaders = { allowed: [':path', 'x-team', 'authorization'], disallowed: ['authorization'] };
    const { guards, servers } = await guarding(rig, { at: passing, requestHeaders });
    const headers = Headers.from([
      ['x-team', 'red'],
      ['authorization', 'Bearer t'],
      ['x-other', '1'],
    ]);
    await guards.request(callOf({ exchange: untraced({ headers }) }), echo);
    expect(servers[0]?.asked[0]?.headers).toEqual([':path: /', 'x-team: red']);
  });

  test('change parameters and results one after the other', async () => {
    const append = (letter: string) => (asked: { body: unknown }) => ({
      mutated: json({ said: `${String((asked.body as { said?: string }).said ?? '')}${letter}` }),
    });
    const { guards, counted } = await guarding(rig, { at: append('a') }, { at: passing }, { at: append('b') });
    expect(await guards.request(callOf(), {})).toEqual({ kind: 'pass', body: { said: 'ab' } });
    expect(await guards.response(callOf(), { said: '-' })).toEqual({ kind: 'pass', body: { said: '-ab' } });
    expect(counted).toEqual(
      ['Request', 'Response'].flatMap((phase) => ['Mask', 'Allow', 'Mask'].map((a) => `${phase} ${a}`)),
    );
  });

  test('leave numbers of 64 bits as they are', async () => {
    const { guards } = await guarding(rig, { at: () => ({ mutated: Buffer.from('{"id":9007199254740993}') }) });
    const guarded = await guards.response(callOf(), {});
    expect(JSON.stringify(guarded)).toBe('{"kind":"pass","body":{"id":9007199254740993}}');
  });

  test('are asked about calls of several targets without parameters, and cannot change them', async () => {
    const metadata = { fields: { team: { stringValue: 'red' } } };
    const { guards, servers } = await guarding(rig, { at: () => ({ mutated: json({ a: 1 }), metadata }) });
    const call = callOf({ method: 'tools/list', targets: ['time', 'space'] });
    expect(await guards.request(call, null)).toEqual({ kind: 'pass', body: null });
    expect(servers[0]?.asked).toMatchObject([{ serviceNames: ['time', 'space'], body: undefined }]);
    expect(call.exchange.attributes.mcpGuardrails).toEqual({ team: 'red' });
  });

  test('are not asked about methods that they do not look at', async () => {
    const { guards, servers } = await guarding(
      rig,
      { at: passing, methods: [['tools/call', 'request']] },
      { at: passing, methods: [['*/list', 'response']] },
    );
    expect(guards.looksAt('tools/call', 'request')).toBe(true);
    expect(guards.looksAt('tools/call', 'response')).toBe(false);
    expect(guards.looksAt('tools/list', 'response')).toBe(true);
    expect(guards.looksAt('ping', 'request')).toBe(false);
    await guards.request(callOf(), echo);
    await guards.response(callOf({ method: 'tools/list' }), { tools: [] });
    expect(servers.map(({ asked }) => asked.map(({ method }) => method))).toEqual([['tools/call'], ['tools/list']]);
  });
});

describe('what processors change beside the message', () => {
  test('are headers: the first value replaces, further ones are added, then some are removed', async () => {
    const set = [
      ['X-Team', 'red'],
      ['x-team', 'blue'],
      ['x-gone', 'soon'],
      ['x-utf8', 'ü'],
    ].map(([key = '', value = '']) => ({ key, value: Buffer.from(value) }));
    const { guards } = await guarding(rig, {
      at: () => ({ pass: {}, headerMutation: { set, remove: ['X-Gone', 'x-old', 'x-never'] } }),
    });
    const headers = Headers.from([
      ['x-team', 'old'],
      ['x-old', '1'],
    ]);
    const exchange = untraced({ headers: headers.clone() });
    await guards.request(callOf({ exchange, headers }), echo);
    const expected = [
      ['x-team', 'red'],
      ['x-team', 'blue'],
      ['x-utf8', Buffer.from('ü').toString('latin1')],
    ];
    expect([...headers]).toEqual(expected);
    expect([...exchange.request.headers]).toEqual(expected);
  });

  test('are no headers of the message itself, and nothing that is none', async () => {
    const names = ['content-length', 'Host', ':path', 'mcp-session-id', 'transfer-encoding', 'content-type', 'a b', ''];
    const set = [
      ...names.map((key) => ({ key, value: Buffer.from('x') })),
      { key: 'x-split', value: Buffer.from('a\r\nb: c') },
    ];
    const { guards } = await guarding(rig, {
      at: () => ({ pass: {}, headerMutation: { set, remove: ['mcp-session-id', 'mcp-protocol-version'] } }),
    });
    const headers = Headers.from([['mcp-protocol-version', '2025-11-25']]);
    await guards.request(callOf({ headers }), echo);
    expect([...headers]).toEqual([['mcp-protocol-version', '2025-11-25']]);
  });

  test('are metadata, of which later ones win, and which rules and the next processor read', async () => {
    const told = (fields: object) => () => ({ pass: {}, metadata: { fields } });
    const { guards, servers } = await guarding(
      rig,
      { at: told({ team: { stringValue: 'red' }, level: { numberValue: 1 } }) },
      { at: told({ level: { numberValue: 2 } }), metadata: { before: 'mcpGuardrails', tool: 'mcp.tool.name' } },
    );
    const call = callOf();
    await guards.request(call, echo);
    expect(call.exchange.attributes.mcpGuardrails).toEqual({ team: 'red', level: 2 });
    expect(structJson(servers[1]?.asked[0]?.metadataContext)).toEqual({
      before: { team: 'red', level: 1 },
      tool: 'echo',
    });
    const rules = compileItemRules(
      { rules: [{ mode: 'allow', expression: 'mcpGuardrails.level == 2 && mcpGuardrails.team == "red"' }] },
      context(),
    );
    expect(rules.allows?.(call.exchange, { kind: 'tool', name: 'echo', target: 'time' })).toBe(true);
  });

  test('are nothing when the processor rejects', async () => {
    const { guards } = await guarding(rig, {
      at: () => ({
        error: { code: 'PERMISSION_DENIED', reason: 'no' },
        headerMutation: { set: [{ key: 'x-a', value: Buffer.from('1') }] },
        metadata: { fields: { a: { boolValue: true } } },
      }),
    });
    const call = callOf();
    await guards.request(call, echo);
    expect([...call.headers]).toEqual([]);
    expect(call.exchange.attributes.mcpGuardrails).toBeNull();
  });
});

describe('what processors are told beside the message', () => {
  test('is what expressions give; those that fail are left out', async () => {
    const { guards, servers } = await guarding(rig, {
      at: passing,
      metadata: {
        user: 'jwt.sub',
        method: 'mcp.methodName',
        tool: 'mcp.tool.target + "/" + mcp.tool.name',
        failing: 'jwt.nothing.there',
        list: '[1, "a", null]',
      },
    });
    const call = callOf();
    call.exchange.attributes.jwt = { claims: { sub: 'alice' }, rawToken: null as never };
    await guards.request(call, echo);
    expect(structJson(servers[0]?.asked[0]?.metadataContext)).toEqual({
      user: 'alice',
      method: 'tools/call',
      tool: 'time/echo',
      list: [1, 'a', null],
    });
    expect(call.exchange.attributes.mcp).toBeNull();
  });

  test('is also what others know of the message, about answers too', async () => {
    const { guards, servers } = await guarding(rig, { at: passing, metadata: { mcp: 'mcp' } });
    const call = callOf();
    const facts = new McpFacts();
    Object.assign(facts, { sessionId: 's1', item: { kind: 'tool', name: 'echo', target: 'time' } });
    call.exchange.attributes.mcp = facts;
    await guards.response(call, {});
    expect(structJson(servers[0]?.asked[0]?.metadataContext)).toEqual({
      mcp: { methodName: 'tools/call', sessionId: 's1', tool: { name: 'echo', target: 'time' } },
    });
    expect(call.exchange.attributes.mcp).toBe(facts);
  });

  test('is nothing that nobody could read: the call fails, even where failures are let pass', async () => {
    const { guards, servers } = await guarding(rig, {
      at: passing,
      failureMode: 'failOpen',
      metadata: { claims: 'jwt.deep' },
    });
    const call = callOf();
    const deep = JSON.parse(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`);
    call.exchange.attributes.jwt = { claims: { deep }, rawToken: null as never };
    expect(await guards.request(call, echo)).toMatchObject({ kind: 'reject', error: { code: -32603 } });
    expect(servers[0]?.asked).toEqual([]);
  });
});

describe('a rejection', () => {
  test.each([
    ['UNKNOWN', -32603],
    ['PERMISSION_DENIED', -32001],
    ['RESOURCE_EXHAUSTED', -32003],
    ['INVALID', -32600],
    [42, -32603],
  ])('%s is told as %s, and ends the chain', async (code, told) => {
    const { guards, servers, counted } = await guarding(
      rig,
      { at: () => ({ error: { code, reason: 'not today', mcpError: json({ retry: 5 }) } }) },
      { at: passing },
    );
    const error = { code: told, message: 'not today', data: { retry: 5 } };
    expect(await guards.request(callOf(), echo)).toEqual({ kind: 'reject', error });
    expect(await guards.response(callOf(), {})).toEqual({ kind: 'reject', error });
    expect(servers[1]?.asked).toEqual([]);
    expect(counted).toEqual(['Request Reject', 'Response Reject']);
  });

  test.each([
    ['no details', undefined],
    ['details that are no JSON', Buffer.from('{')],
    ['details that are no text', Buffer.from([0xff, 0xfe])],
  ])('with %s has no data, and always a message', async (_what, mcpError) => {
    const { guards } = await guarding(rig, { at: () => ({ error: { mcpError } }) });
    const guarded = await guards.request(callOf(), echo);
    expect(guarded).toEqual({ kind: 'reject', error: { code: -32603, message: 'rejected by a guardrail' } });
  });

  test('stands also where failures are let pass', async () => {
    const { guards } = await guarding(rig, { at: () => ({ error: { code: 'INVALID' } }), failureMode: 'failOpen' });
    expect(await guards.request(callOf(), echo)).toMatchObject({ kind: 'reject', error: { code: -32600 } });
  });
});

describe('a processor that fails', () => {
  const violations: [string, () => object][] = [
    ['sets no result', () => ({})],
    ['puts something in the place that is no JSON', () => ({ mutated: Buffer.from('{') })],
    ['puts nothing in the place', () => ({ mutated: Buffer.alloc(0) })],
    ['puts a list in the place', () => ({ mutated: json([1]) })],
    ['puts bytes in the place that are no text', () => ({ mutated: Buffer.from([0x7b, 0xff, 0x7d]) })],
    ['nests what it puts in the place too deeply', () => ({ mutated: Buffer.from(`{"a":${'['.repeat(2000)}`) })],
  ];
  test.each(violations)('because it %s breaks the protocol', async (_what, at) => {
    const closed = await guarding(rig, { at });
    for (const guarded of [await closed.guards.request(callOf(), echo), await closed.guards.response(callOf(), {})])
      expect(guarded).toMatchObject({
        kind: 'reject',
        error: { code: -32603, message: expect.stringMatching(/^mcpGuardrails protocol violation: /) },
      });
    expect(closed.counted).toEqual([]);
    const open = await guarding(rig, { at, failureMode: 'failOpen' });
    expect(await open.guards.request(callOf(), echo)).toEqual({ kind: 'pass', body: echo });
    expect(open.counted).toEqual(['Request FailOpen']);
  });

  const failures: [string, () => object | Promise<object>, RegExp][] = [
    [
      'by a status',
      () => {
        throw new StatusError(14, 'out for lunch');
      },
      /failed: UNAVAILABLE: out for lunch$/,
    ],
    ['by bytes that are no message', () => Buffer.from([0xff, 0xff, 0xff]), /failed: .*cannot be read/],
    ['by an answer that is too large', () => ({ mutated: Buffer.alloc(17 * 1024 * 1024, 0x20) }), /failed: /],
    ['by not answering in time', () => new Promise<object>(() => {}), /failed: .*in time/],
  ];
  test.each(failures)('%s ends the call, or lets it pass', async (_what, at, message) => {
    const policies = { http: { requestTimeoutMs: 500 } };
    const closed = await guarding(rig, { at, policies });
    expect(await closed.guards.request(callOf(), echo)).toMatchObject({
      kind: 'reject',
      error: { code: -32603, message: expect.stringMatching(message) },
    });
    expect(await closed.guards.response(callOf(), {})).toMatchObject({
      error: { message: expect.stringMatching(/^mcpGuardrails checkResponse failed/) },
    });
    const open = await guarding(rig, { at, policies, failureMode: 'failOpen' }, { at: passing });
    expect(await open.guards.request(callOf(), echo)).toEqual({ kind: 'pass', body: echo });
    expect(open.counted).toEqual(['Request FailOpen', 'Request Allow']);
  });

  test('because nobody is there tells the client no address', async () => {
    const { guards } = await guarding(rig, { at: 1 });
    const guarded = await guards.request(callOf(), echo);
    expect(guarded).toMatchObject({
      error: { code: -32603, message: expect.stringMatching(/^mcpGuardrails checkRequest failed: /) },
    });
    expect(JSON.stringify(guarded)).not.toMatch(/127\.0\.0\.1/);
  });

  test('because it speaks something else ends the call', async () => {
    const port = await rig.raw((socket) => socket.end('SSH-2.0-nothing\r\n'));
    const { guards } = await guarding(rig, { at: port });
    expect(await guards.request(callOf(), echo)).toMatchObject({ kind: 'reject', error: { code: -32603 } });
  });
});

describe('many calls', () => {
  test('at once are asked about each by itself', async () => {
    const { guards, servers } = await guarding(rig, { at: ({ body }) => ({ mutated: json({ was: body }) }) });
    const bodies = Array.from({ length: 300 }, (_, n) => ({ n }));
    const outcomes = await Promise.all(bodies.map((body) => guards.request(callOf(), body)));
    expect(outcomes).toEqual(bodies.map((was) => ({ kind: 'pass', body: { was } })));
    expect(servers[0]?.asked).toHaveLength(300);
  });

  test('are all refused when the processor dies while it is asked, and pass again when it is back', async () => {
    let waiting = 0;
    let all = (): void => {};
    const begun = new Promise<void>((resolve) => (all = resolve));
    const { guards, servers } = await guarding(rig, {
      at: () => {
        if (++waiting === 50) all();
        return new Promise<object>(() => {});
      },
    });
    const calls = Array.from({ length: 50 }, () => guards.request(callOf(), echo));
    await begun;
    servers[0]?.close();
    for (const outcome of await Promise.all(calls))
      expect(outcome).toMatchObject({ kind: 'reject', error: { code: -32603 } });
    const again = await serveExtMcp(passing, servers[0]?.port);
    rig.cleanup(() => again.close());
    expect(await guards.request(callOf(), echo)).toEqual({ kind: 'pass', body: echo });
  });
});

describe('a call that is given up', () => {
  test('when its client leaves cancels the question', async () => {
    let began = (): void => {};
    const begun = new Promise<void>((resolve) => (began = resolve));
    const { guards, servers, counted } = await guarding(
      rig,
      {
        at: () => {
          began();
          return new Promise<object>(() => {});
        },
        failureMode: 'failOpen',
      },
      { at: passing },
    );
    const exchange = untraced();
    const waiting = guards.request(callOf({ exchange }), echo);
    await begun;
    exchange.clientLeft();
    expect(await waiting).toMatchObject({ kind: 'reject' });
    await servers[0]?.cancelled;
    expect(servers[1]?.asked).toEqual([]);
    expect(counted).toEqual([]);
  });

  test('when its time is up, unless its response has begun', async () => {
    let answer = (): void => {};
    const handler = () => new Promise<object>((resolve) => (answer = () => resolve({ pass: {} })));
    let began = (): void => {};
    const at = () => {
      const promise = handler();
      began();
      return promise;
    };
    const { guards, deps: own } = await guarding(rig, { at });
    const exchange = untraced();
    exchange.deadlineAt = own.clock.now() + 1000;
    let begun = new Promise<void>((resolve) => (began = resolve));
    const late = guards.request(callOf({ exchange }), echo);
    await begun;
    own.clock.advance(1000);
    expect(await late).toMatchObject({ kind: 'reject' });
    exchange.response = { status: 200, headers: new Headers(), body: exchange.request.body };
    begun = new Promise<void>((resolve) => (began = resolve));
    const streaming = guards.response(callOf({ exchange }), {});
    await begun;
    own.clock.advance(1000);
    answer();
    expect(await streaming).toEqual({ kind: 'pass', body: {} });
    expect(own.clock.pending).toBe(0);
  });
});

describe('a trace', () => {
  test('is told of each decision and of each call of a processor, and of no word of the message', async () => {
    const { guards } = await guarding(
      rig,
      { at: passing },
      { at: () => ({ mutated: json({ secret: 'other' }) }) },
      { at: () => ({ error: { reason: 'secret reason' } }) },
    );
    const { exchange, messages, policies } = traced();
    await guards.request(callOf({ exchange }), { secret: 'word' });
    expect(policies).toEqual([
      expect.stringMatching(/^guardrail: request tools\/call: allowed by .* \(from route default\/r1\)$/),
      expect.stringMatching(/^guardrail: request tools\/call: changed by /),
      expect.stringMatching(/^guardrail: request tools\/call: rejected by /),
    ]);
    expect(messages.filter(({ type }) => type === 'backendCallResult')).toHaveLength(3);
    expect(JSON.stringify(messages)).not.toContain('secret');
  });

  test('says why there was no verdict', async () => {
    const at = () => {
      throw new StatusError(8, 'busy');
    };
    const { guards } = await guarding(rig, { at, failureMode: 'failOpen' }, { at });
    const { exchange, policies } = traced();
    await guards.request(callOf({ exchange }), echo);
    expect(policies[0]).toMatch(/let pass without a verdict by .*: RESOURCE_EXHAUSTED: busy/);
    expect(policies[1]).toMatch(/gave no verdict by .*: RESOURCE_EXHAUSTED: busy/);
  });

  test('of a request that is only explained says who was not asked', async () => {
    const own = deps();
    const client = { name: 'processor' };
    const guards = compileCallGuards(
      {
        processors: [
          {
            service: { target: { kind: 'reference', backend: '/p' }, policies: {} },
            methods: [['*', 'full']],
            failureMode: 'failClosed',
            metadata: {},
            requestHeaders: { allowed: [], disallowed: [] },
          },
        ],
      },
      // `as`: neither is called.
      context({ ...own, services: { open: () => client as never }, dryRun: {} as never }),
    );
    const { exchange, messages } = traced();
    expect(await guards?.request(callOf({ exchange }), echo)).toEqual({ kind: 'pass', body: echo });
    expect(messages).toEqual([{ type: 'policyEvent', kind: 'guardrail', details: { notAsked: 'processor' } }]);
  });
});
