import { describe, expect, test } from '@jest/globals';
import type { TraceEvent } from '../../../src/admin/protocol/trace-event.ts';
import { labelOf, severityGlyph, summaryOf } from '../../../ui/trace/summary.ts';

function event(message: object, scope?: string[]): TraceEvent {
  return {
    eventStart: null,
    eventEnd: 1,
    severity: 'info',
    ...(scope && { scope }),
    message: message as TraceEvent['message'],
  };
}

describe('summaries', () => {
  test.each<[string, object, string, string]>([
    ['a start', { type: 'requestStarted' }, 'Request Start', 'request started'],
    [
      'an expression',
      { type: 'cel', expr: 'a == 1', requestState: {}, result: { x: true } },
      'CEL',
      'a == 1 => {"x":true}',
    ],
    [
      'a failed expression',
      { type: 'cel', expr: 'a', requestState: {}, result: { error: 'no such key' } },
      'CEL',
      'a => error: no such key',
    ],
    [
      'an old stage name',
      { type: 'requestSnapshot', stage: 'initial_request', requestState: {} },
      'Snapshot',
      'initial request',
    ],
    [
      'a route',
      { type: 'routeSelection', selectedRoute: 'shop/cart', evaluatedRoutes: ['a', 'b'] },
      'Route',
      'selected "shop/cart" (2 evaluated)',
    ],
    [
      'a route miss',
      { type: 'routeSelection', selectedRoute: null, evaluatedRoutes: ['a'] },
      'Route',
      'no route selected (1 evaluated)',
    ],
    [
      'policies',
      { type: 'policySelection', phase: 'subBackend', effectivePolicy: { b: 1, a: {}, c: null, d: [] } },
      'Policies',
      'sub-backend effective policies: a, b',
    ],
    [
      'no policies',
      { type: 'policySelection', phase: 'gateway', effectivePolicy: { jwt: null } },
      'Policies',
      'gateway effective policies: none',
    ],
    [
      'a skipped policy',
      { type: 'policy', kind: 'jwt', result: { type: 'skip', reason: 'no token' } },
      'Policy',
      'jwt skipped: no token',
    ],
    [
      'a policy',
      { type: 'policy', kind: 'jwt', result: { type: 'apply', details: 'ok', snapshot: null } },
      'Policy',
      'jwt: ok',
    ],
    [
      'a policy event',
      { type: 'policyEvent', kind: 'retry', details: { attempt: 1 } },
      'Policy Event',
      'retry: {"attempt":1}',
    ],
    [
      'authorization',
      { type: 'authorizationResult', result: 'deny', rules: [{ name: 'x', matched: true, mode: 'deny' }] },
      'Authz',
      'denied (0 allow, 1 deny, 0 require matches): deny x',
    ],
    [
      'a backend result',
      { type: 'backendCallResult', status: null, error: 'refused' },
      'Backend Result',
      'error=refused',
    ],
    ['an end', { type: 'requestFinished', status: 200, error: null }, 'Request Done', 'request finished status=200'],
    [
      'a body',
      { type: 'bodySnapshot', stage: 'response', body: 'b2sK', truncated: 9 },
      'Body Snapshot',
      'response body snapshot (3 bytes and 9 more)',
    ],
    [
      'an LLM request',
      {
        type: 'llmRequestDetected',
        provider: 'p',
        inputFormat: 'Completions',
        upstreamRouteType: 'Messages',
        requestModel: 'm',
        streaming: true,
      },
      'LLM Request',
      'p input=Completions native=Messages model=m streaming',
    ],
    [
      'an LLM request by its older field',
      { type: 'llmRequestDetected', provider: 'p', nativeFormat: 'Messages' },
      'LLM Request',
      'p native=Messages',
    ],
    ['lost events', { type: 'dropped', count: 7 }, 'Dropped', '7 events are missing here: the reader was too slow'],
    ['an unknown type', { type: 'newThing', a: 1 }, 'newThing', '{"a":1}'],
  ])('%s', (_name, message, label, summary) => {
    expect([labelOf(event(message)), summaryOf(event(message))]).toEqual([label, summary]);
  });

  test('scopes come first', () => {
    expect(summaryOf(event({ type: 'backendCallStart', target: 'h:1' }, ['mcp', 'http']))).toBe('mcp > http: h:1');
  });

  test('a known type without its fields does not throw', () => {
    for (const type of [
      'cel',
      'routeSelection',
      'policySelection',
      'policy',
      'policyEvent',
      'authorizationResult',
      'bodySnapshot',
      'backendCallResult',
    ]) {
      expect(typeof summaryOf(event({ type }))).toBe('string');
    }
  });

  test('severities have different glyphs', () => {
    expect(new Set((['success', 'info', 'warn', 'error'] as const).map(severityGlyph)).size).toBe(4);
  });
});
