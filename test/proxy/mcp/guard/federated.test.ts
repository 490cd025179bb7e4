import { afterEach, describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { ItemRules } from '../../../../proxy/mcp/guard/contract.ts';
import { compileItemRules } from '../../../../proxy/mcp/guard/rules.ts';
import type { AuthorizationRule } from '../../../../src/config/ir/index.ts';
import { Rig } from '../../backends/rig.ts';
import { traced, untraced } from '../../exchange/build.ts';
import { context } from '../../policy/build.ts';
import { answered, ScriptedTarget, session } from '../federation/scripted.ts';
import { guarding } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

function rules(...expressions: string[]): ItemRules {
  return compileItemRules(
    { rules: expressions.map((expression): AuthorizationRule => ({ mode: 'allow', expression })) },
    context(),
  );
}

function target(name: string): ScriptedTarget {
  return new ScriptedTarget(name, (seen) => {
    const { method, params } = seen.message;
    if (method === 'tools/list') seen.answer({ tools: [{ name: 'echo' }, { name: 'drop' }] });
    else seen.answer({ content: [{ type: 'text', text: JSON.stringify(params) }] });
  });
}

describe('rules and processors of several targets', () => {
  test('hide items in lists, refuse them in calls, and tell a trace how', async () => {
    const [a, b] = [target('a'), target('b')];
    const on = session([a, b], { rules: rules('mcp.tool.name == "echo" && mcp.tool.target == "b"') });
    const { exchange, messages, policies } = traced();
    expect(await answered(on, 'tools/list', undefined, { exchange })).toEqual({ tools: [{ name: 'b_echo' }] });
    expect(policies).toEqual(['mcp_authorization: tool list of 4: 3 hidden (from route default/r1)']);
    expect(await answered(on, 'tools/call', { name: 'a_echo' }, { exchange })).toEqual({
      code: -32602,
      message: 'Unknown tool: a_echo',
    });
    expect(await answered(on, 'tools/call', { name: 'b_echo' }, { exchange })).toHaveProperty('content');
    const decided = messages.flatMap((message) => (message.type === 'authorizationResult' ? [message.result] : []));
    expect(decided).toEqual(['deny', 'allow']);
    expect(a.methods()).toEqual(['tools/list']);
  });

  test('see what processors say before a call is allowed, and the target gets their headers and parameters', async () => {
    const a = target('a');
    const { guards, servers } = await guarding(rig, {
      at: ({ kind, body }) =>
        kind === 'response'
          ? { pass: {} }
          : {
              mutated: json({ ...(body as object), arguments: { text: '***' } }),
              headerMutation: { set: [{ key: 'x-team', value: Buffer.from('red') }] },
              metadata: { fields: { team: { stringValue: 'red' } } },
            },
    });
    const allowed = rules('mcpGuardrails.team == "red" && request.headers["x-team"] == "red"');
    const on = session([a, target('b')], { rules: allowed, guards });
    const exchange = untraced({ headers: Headers.from([['x-team', 'blue']]) });
    const call = { name: 'a_echo', arguments: { text: 'secret' } };
    expect(await answered(on, 'tools/call', call, { exchange })).toEqual({
      content: [{ type: 'text', text: '{"name":"echo","arguments":{"text":"***"}}' }],
    });
    expect(a.seen[0]?.call.headers.getAll('x-team')).toEqual(['red']);
    expect(servers[0]?.asked).toMatchObject([
      { kind: 'request', serviceNames: ['a'], body: { name: 'echo' } },
      { kind: 'response', serviceNames: ['a'] },
    ]);
  });

  test('are asked once about a list, and then about what the client would see', async () => {
    const { guards, servers } = await guarding(rig, {
      at: ({ kind }) => (kind === 'request' ? { pass: {} } : { mutated: json({ tools: [{ name: 'b_drop' }] }) }),
    });
    const on = session([target('a'), target('b')], { rules: rules('mcp.tool.name == "drop"'), guards });
    expect(await answered(on, 'tools/list')).toMatchObject({ tools: [{ name: 'b_drop' }] });
    expect(servers[0]?.asked).toMatchObject([
      { kind: 'request', serviceNames: ['a', 'b'], body: undefined },
      { kind: 'response', serviceNames: ['a', 'b'], body: { tools: [{ name: 'a_drop' }, { name: 'b_drop' }] } },
    ]);
  });

  test.each([
    ['request', 1],
    ['response', 2],
  ])('reject a %s with the error of the processor', async (phase, asked) => {
    const { guards, servers } = await guarding(rig, {
      at: ({ kind }) =>
        kind === phase
          ? { error: { code: 'PERMISSION_DENIED', reason: 'no', mcpError: json({ why: 1 }) } }
          : { pass: {} },
    });
    const a = target('a');
    expect(await answered(session([a], { guards }), 'tools/call', { name: 'echo' })).toEqual({
      code: -32001,
      message: 'no',
      data: { why: 1 },
    });
    expect(servers[0]?.asked).toHaveLength(asked);
    expect(a.methods()).toHaveLength(asked - 1);
  });

  test('are not asked about errors of a target', async () => {
    const { guards, servers } = await guarding(rig, { at: () => ({ pass: {} }), methods: [['*', 'response']] });
    const a = new ScriptedTarget('a', (seen) => seen.error(-32000, 'broken'));
    expect(await answered(session([a], { guards }), 'tools/call', { name: 'echo' })).toEqual({
      code: -32000,
      message: 'broken',
    });
    expect(servers[0]?.asked).toEqual([]);
  });
});
