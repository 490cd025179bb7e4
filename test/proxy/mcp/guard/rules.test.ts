import { describe, expect, test } from '@jest/globals';

import { McpFacts } from '../../../../proxy/exchange/mcp-facts.ts';
import type { McpItem } from '../../../../proxy/mcp/guard/contract.ts';
import { compileItemRules } from '../../../../proxy/mcp/guard/rules.ts';
import type { AuthorizationRule } from '../../../../src/config/ir/index.ts';
import { traced, untraced } from '../../exchange/build.ts';
import { context } from '../../policy/build.ts';

const tool = (name: string, target = 'time'): McpItem => ({ kind: 'tool', name, target });
const allow = (expression: string): AuthorizationRule => ({ mode: 'allow', expression });
const deny = (expression: string): AuthorizationRule => ({ mode: 'deny', expression });
const require = (expression: string): AuthorizationRule => ({ mode: 'require', expression });

function rulesOf(...rules: AuthorizationRule[]) {
  return compileItemRules({ rules }, context());
}

describe('rules about items', () => {
  test('are none where none are written', () => {
    expect(compileItemRules(undefined, context())).toEqual({ allows: null, list: null });
    expect(rulesOf()).toEqual({ allows: null, list: null });
  });

  test.each<[string, AuthorizationRule[], McpItem, boolean]>([
    ['the tool that is named', [allow('mcp.tool.name == "now"')], tool('now'), true],
    ['no other tool', [allow('mcp.tool.name == "now"')], tool('later'), false],
    ['the target', [allow('mcp.tool.target == "time"')], tool('now', 'space'), false],
    ['no prompt by a rule about tools', [allow('mcp.tool.name == "now"')], { ...tool('now'), kind: 'prompt' }, false],
    ['a prompt', [allow('mcp.prompt.name == "now"')], { ...tool('now'), kind: 'prompt' }, true],
    ['a resource', [allow('mcp.resource.name.startsWith("file:")')], { ...tool('file:a'), kind: 'resource' }, true],
    ['a task', [allow('mcp.task.name == "7" && mcp.task.target == "time"')], { ...tool('7'), kind: 'task' }, true],
    ['by what is there', [allow('has(mcp.prompt) || has(mcp.resource)')], tool('now'), false],
    ['what is not denied', [deny('mcp.tool.name == "rm"')], tool('ls'), true],
    ['not what is denied', [deny('mcp.tool.name == "rm"'), allow('true')], tool('rm'), false],
    ['not what a requirement fails for', [require('has(jwt.sub)')], tool('now'), false],
    ['nothing by arguments, which rules do not see', [deny('!has(mcp.tool.arguments)')], tool('now'), false],
    ['nothing by a rule that fails', [allow('mcp.tool.nothing == 1')], tool('now'), false],
    ['names that look like fields', [allow('mcp.tool.name == "__proto__"')], tool('__proto__'), true],
    ['as a whole', [allow('mcp.tool == {"name": "now", "target": "time"}')], tool('now'), true],
  ])('allow %s', (_what, rules, item, allowed) => {
    expect(rulesOf(...rules).allows?.(untraced(), item)).toBe(allowed);
    expect(rulesOf(...rules).allows?.(traced().exchange, item)).toBe(allowed);
    expect(
      rulesOf(...rules)
        .list?.(untraced())
        .allows(item),
    ).toBe(allowed);
  });

  const resource = (name: string): McpItem => ({ kind: 'resource', name, target: 'files' });

  test.each([
    'file:///public/../secret/a',
    'file:///public/%2e%2E/secret/a',
    'file:///public/..%2fsecret/a',
    'file:///public/..%5csecret/a',
    'file:///public/..\\secret/a',
    'file:///public/\t../secret/a',
    'file:///public/%2e%2e%2fsecret/a',
  ])('allow no address that leads elsewhere: %s', (name) => {
    expect(rulesOf(allow('mcp.resource.name.startsWith("file:///public/")')).allows?.(untraced(), resource(name))).toBe(
      false,
    );
  });

  test.each([
    'FILE:///secret/a',
    'file:///%73ecret/a',
    'file:///x/../secret/a',
    'file://localhost/secret/a',
    'file:/secret/a',
    ' file:///secret/a',
  ])('deny an address however it is written: %s', (name) => {
    const rules = rulesOf(allow('true'), deny('mcp.resource.name.startsWith("file:///secret/")'));
    expect(rules.allows?.(untraced(), resource(name))).toBe(false);
  });

  test.each([
    'file:///my%20file',
    'file:///my file',
    'file:///ä/€',
    'file:///{path}',
    'weather://{city}/now{?days}',
    'http://shop.test',
    'test://static/resource/1',
    'memo:a.b.c',
    'ui://form/x..y',
    'no-address',
    'file:///100%',
    'https://shop.test/a?next=/b&q=%2F.',
  ])('take an address as it is where nobody reads it otherwise: %s', (name) => {
    const rules = rulesOf(allow(`mcp.resource.name == ${JSON.stringify(name)}`));
    expect(rules.allows?.(untraced(), resource(name))).toBe(true);
  });

  test('read what is known of the client and of processors', () => {
    const rules = rulesOf(allow('mcp.tool.name in jwt.tools && mcpGuardrails.team == "red"'));
    const exchange = untraced();
    expect(rules.allows?.(exchange, tool('now'))).toBe(false);
    exchange.attributes.jwt = { claims: { tools: ['now'] }, rawToken: null as never };
    exchange.attributes.mcpGuardrails = { team: 'red' };
    expect(rules.allows?.(exchange, tool('now'))).toBe(true);
    expect(rules.allows?.(exchange, tool('rm'))).toBe(false);
  });

  test('leave what is known of the message as it was', () => {
    const exchange = untraced();
    const facts = new McpFacts();
    exchange.attributes.mcp = facts;
    rulesOf(allow('true')).allows?.(exchange, tool('now'));
    rulesOf(allow('true')).list?.(exchange).allows(tool('now'));
    expect(exchange.attributes.mcp).toBe(facts);
    expect(facts.item).toBeNull();
  });

  test('fail to compile when an expression is none', () => {
    expect(() => rulesOf(allow('mcp.tool.name =='))).toThrow(/expected/i);
  });

  test('tell a trace of each call, with every rule', () => {
    const { exchange, messages } = traced();
    const rules = rulesOf({ ...allow('mcp.tool.name == "now"'), source: 'route default/r1' });
    rules.allows?.(exchange, tool('now'));
    rules.allows?.(exchange, tool('rm'));
    const rule = { name: 'mcp.tool.name == "now"', mode: 'allow', source: 'route default/r1' };
    expect(messages).toEqual([
      { type: 'authorizationResult', rules: [{ ...rule, matched: true }], result: 'allow' },
      { type: 'authorizationResult', rules: [{ ...rule, matched: false }], result: 'deny' },
    ]);
  });

  test('tell a trace of a list in one line', () => {
    const { exchange, messages, policies } = traced();
    const list = rulesOf(allow('mcp.tool.name != "t7"')).list?.(exchange);
    const left = Array.from({ length: 1000 }, (_, i) => tool(`t${i}`)).filter((item) => list?.allows(item));
    expect(list?.allows({ ...tool('ui://t1'), kind: 'resource' })).toBe(false);
    list?.told();
    expect(left).toHaveLength(999);
    expect(policies).toEqual(['mcp_authorization: tool list of 1000: 1 hidden (from route default/r1)']);
    expect(messages).toHaveLength(1);
    expect(exchange.attributes.mcp).toBeNull();
    rulesOf(allow('true')).list?.(exchange).told();
    expect(policies.at(-1)).toBe('mcp_authorization: the list is empty');
  });

  test('tell a trace once why an expression fails for the items of a list', () => {
    const { exchange, messages } = traced();
    const list = rulesOf(allow('mcp.tool.name == "now"')).list?.(exchange);
    for (let i = 0; i < 100; i++) list?.allows({ kind: 'prompt', name: `p${i}`, target: 'time' });
    list?.told();
    expect(messages).toMatchObject([
      { type: 'cel', result: { error: 'no such key: mcp.tool.name' } },
      {
        type: 'policy',
        kind: 'mcp_authorization',
        result: { details: expect.stringMatching('prompt list of 100: 100 hidden') },
      },
    ]);
  });
});
