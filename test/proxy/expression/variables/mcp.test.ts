import { describe, expect, test } from '@jest/globals';

import { McpFacts, type McpItemFacts } from '../../../../proxy/exchange/mcp-facts.ts';
import { createExpressions } from '../../../../proxy/expression/expressions.ts';
import { traced, untraced } from '../../exchange/build.ts';

const expressions = createExpressions();
const tool: McpItemFacts = { kind: 'tool', name: 'echo', target: 'everything' };

function evaluate(source: string, parts: Partial<McpFacts> | null) {
  const exchange = untraced();
  exchange.attributes.mcp = parts === null ? null : Object.assign(new McpFacts(), parts);
  return expressions.compile(source, 'test').json(exchange);
}

describe('the variable mcp', () => {
  test.each([
    ['mcp == null', true],
    ['has(mcp.tool)', false],
    ['mcp.methodName', undefined],
    ['mcp.tool.name', undefined],
    ['default(mcp.tool.name, "none")', 'none'],
  ])('without a message: %s is %s', (source, value) => {
    expect(evaluate(source, null)).toEqual(value);
  });

  test.each([
    ['mcp.methodName', 'tools/call'],
    ['mcp.sessionId', 's1'],
    ['mcp.tool.name', 'echo'],
    ['mcp["tool"]["target"]', 'everything'],
    ['mcp.tool.arguments.text', 'hi'],
    ['mcp.tool.result.content[0].text', 'hi'],
    ['has(mcp.tool.error)', false],
    ['has(mcp.prompt) || has(mcp.resource) || has(mcp.task)', false],
    ['mcp.prompt.name', undefined],
    ['mcp.tool.nothing', undefined],
    ['mcp.tool.name.size()', 4],
    ['mcp.tool.map(k, k).size()', 4],
  ])('of a call: %s is %s', (source, value) => {
    const facts = {
      methodName: 'tools/call',
      sessionId: 's1',
      item: tool,
      arguments: { text: 'hi' },
      result: { content: [{ type: 'text', text: 'hi' }] },
    };
    expect(evaluate(source, facts)).toEqual(value);
  });

  test.each(['prompt', 'resource', 'task'] as const)(
    'of a %s has its name and its target, and nothing else',
    (kind) => {
      const facts = { item: { ...tool, kind }, arguments: { a: 1 } };
      expect(evaluate('mcp', facts)).toEqual({ [kind]: { name: 'echo', target: 'everything' } });
      expect(evaluate(`has(mcp.${kind}.arguments)`, facts)).toBe(false);
    },
  );

  test('of a stream is an empty one', () => {
    expect(evaluate('mcp', {})).toEqual({});
    expect(evaluate('mcp.tool.error.code', { item: tool, error: { code: -32602 } })).toBe(-32602);
  });

  test('is told to a trace where an expression fails', () => {
    const { exchange, messages } = traced();
    exchange.attributes.mcp = Object.assign(new McpFacts(), { item: tool });
    exchange.attributes.mcpGuardrails = { team: 'red' };
    expressions.compile('mcp.prompt.name == mcpGuardrails.team', 'test').isTrue(exchange);
    expect(messages).toMatchObject([
      {
        type: 'cel',
        requestState: { mcp: { tool: { name: 'echo', target: 'everything' } }, mcpGuardrails: { team: 'red' } },
      },
    ]);
  });
});
