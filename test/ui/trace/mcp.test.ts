import { describe, expect, test } from '@jest/globals';
import { decodeTraceEvent } from '../../../src/admin/protocol/decode-trace-event.ts';
import type { McpFacts, Severity, TraceEvent, TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import { matches, parseQuery } from '../../../ui/trace/filter.ts';
import { bothOf, mcpExcerpt, outcomeText, whatOf } from '../../../ui/trace/mcp.ts';
import { askedAndAnswered, callList, callTree } from '../../../ui/trace/mcp-detail.ts';
import { factsOf, fittingLine, isProblem, requestLine, rpcProblem } from '../../../ui/trace/request.ts';
import { fittingSummary } from '../../../ui/trace/short-summary.ts';
import { summaryOf } from '../../../ui/trace/summary.ts';
import { recording } from '../recordings.ts';
import { press, viewerOf } from './viewer.ts';

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

const facts = (method: string | null, item: string | null = null): McpFacts => ({
  kind: 'request',
  method,
  item,
  protocolVersion: '2025-11-25',
  session: null,
});

const nothingElse = { code: null, status: null, error: null, notifications: 0, requests: 0 };

function event(message: TraceMessage, at: number, rest: Partial<TraceEvent> = {}): TraceEvent {
  return { eventStart: null, eventEnd: at, severity: 'info', message, ...rest };
}

function call(target: string, { from, to, what = 'tools/list' }: { from: number; to: number; what?: string }) {
  const scope = ['mcp', target];
  return [
    event({ type: 'mcpCallStart', target, transport: 'streamable', ...facts(what) }, from, { scope }),
    event({ type: 'mcpCallResult', target, ...facts(what), ...nothingElse, outcome: 'result' }, to, {
      scope,
      eventStart: from,
      severity: 'success',
    }),
  ] as const;
}

function failed(severity: Severity, rest: object): TraceEvent {
  const message = { type: 'mcpResponse', ...facts('tools/call', 'a'), ...nothingElse, outcome: 'error', ...rest };
  // `as`: the tests say which fields there are.
  return event(message as TraceMessage, 9, { severity, eventStart: 1 });
}

describe('what a trace tells of a request to MCP servers', () => {
  test('the message, the version, the session, the servers', () => {
    const seen = factsOf(recording('mcp-fan-out'));
    expect(seen.mcp).toMatchObject({ what: 'initialize', version: '2025-11-25', problem: undefined });
    expect(seen.mcp?.session).toMatch(/^[0-9a-f]{16}$/);
    expect(seen.backend).toBe('everything, older, memory');
    expect(seen.backendCalls).toBe(3);
    expect(requestLine(seen)).toBe('POST 127.0.0.1/mcp initialize');
  });

  test('calls below their servers, with their place in time', () => {
    const [one, oneEnd] = call('one', { from: 10, to: 40 });
    const [two, twoEnd] = call('two', { from: 20, to: 100 });
    const { mcp } = factsOf([one, two, oneEnd, twoEnd, ...call('one', { from: 50, to: 60, what: 'ping' })]);
    if (mcp === undefined) throw new Error('no call was found');
    expect(callTree(mcp, { totalUs: 100, columns: 40 })).toEqual([
      '# Calls',
      '# one  streamable 2025-11-25',
      '# ├ ✓ tools/list  ━━━━━             30µs',
      '# ╰ ✓ ping             ━━           10µs',
      '# two  streamable 2025-11-25',
      '# ╰ ✓ tools/list   ━━━━━━━━━━━      80µs',
    ]);
    expect(callList(mcp)[2]).toEqual({
      target: 'one',
      how: 'streamable 2025-11-25',
      call: 'ping',
      start: '50µs',
      took: '10µs',
    });
  });

  test('equal calls end in the order in which they began, and one that has no end is not over', () => {
    const [first, end] = call('one', { from: 1, to: 5 });
    const [second] = call('one', { from: 2, to: 9 });
    const { mcp } = factsOf([first, second, end]);
    expect(mcp?.calls.map(({ endUs }) => endUs)).toEqual([5, undefined]);
  });

  test('questions of guardrails are calls too', () => {
    const asked = event(
      {
        type: 'policy',
        kind: 'guardrail',
        result: { type: 'apply', details: 'request tools/call: allowed by guard (from a)', snapshot: null },
      },
      7,
      { eventStart: 3 },
    );
    const { mcp } = factsOf([event({ type: 'mcpRequest', ...facts('tools/call', 'x') }, 1), asked]);
    expect(mcp?.calls).toMatchObject([
      { target: 'guardrail', what: 'request tools/call: allowed by guard', startUs: 3, endUs: 7 },
    ]);
  });

  test('errors are problems whatever HTTP says', () => {
    const seen = factsOf(recording('mcp-tool-error'));
    expect([seen.status, rpcProblem(seen), isProblem(seen)]).toEqual([200, 'tool error', true]);
    expect(rpcProblem(factsOf([failed('error', { code: -32602, error: 'Unknown tool: a' })]))).toBe('error -32602');
    expect(rpcProblem(factsOf([failed('error', { outcome: 'failed', status: 503 })]))).toBe('status 503');
    expect(rpcProblem(factsOf([failed('info', { outcome: 'cancelled' })]))).toBeUndefined();
  });

  test('nothing of other requests', () => {
    expect(factsOf(recording('plain-200')).mcp).toBeUndefined();
  });
});

describe('lines', () => {
  test.each([
    [facts('tools/call', 'echo'), 'tools/call echo'],
    [facts('ping'), 'ping'],
    [{ ...facts(null), kind: 'stream' as const }, 'listen'],
    [{ ...facts(null), kind: 'end' as const }, 'end session'],
    [{ ...facts(null), kind: 'answer' as const }, 'answer'],
  ])('of messages: %#', (about, expected) => expect(whatOf(about)).toBe(expected));

  test.each([
    [{ outcome: 'result' as const, notifications: 3, requests: 1 }, 'result, after 3 notifications and 1 request'],
    [{ outcome: 'error' as const, code: -32602, error: 'Unknown tool: x' }, 'error -32602: Unknown tool: x'],
    [{ outcome: 'error' as const, isError: true, error: 'no' }, 'tool error: no'],
    [{ outcome: 'failed' as const, error: 'connection refused' }, 'failed: connection refused'],
    [{ outcome: 'accepted' as const }, 'accepted'],
  ])('of outcomes: %#', (rest, expected) => {
    expect(outcomeText({ ...facts('tools/call'), ...nothingElse, ...rest })).toBe(expected);
  });

  test.each<[string, object, string]>([
    ['result', { content: [{ type: 'text', text: ' Hi\n' }] }, '"Hi"'],
    ['result', { content: [{ type: 'image', mimeType: 'image/png', data: '' }] }, 'image image/png'],
    ['result', { tools: [{}, {}] }, '2 tools'],
    ['result', { contents: [{ uri: 'a', text: 'b' }] }, '"b"'],
    ['result', {}, ''],
    ['nothing', {}, ''],
  ])('of answers: %#', (name, value, expected) => {
    const body = base64({ jsonrpc: '2.0', id: 1, [name]: value });
    const became = { ...facts('tools/call', 'x'), ...nothingElse, outcome: 'result' as const, body };
    expect(mcpExcerpt({ type: 'mcpResponse', ...became })).toBe(expected);
  });

  test('bodies that are none, cut or hostile say nothing', () => {
    for (const body of ['', '!', Buffer.from('{"params":').toString('base64'), base64(null), base64([1]), base64(7)])
      expect(mcpExcerpt({ type: 'mcpRequest', ...facts('tools/call', 'x'), body })).toBe('');
  });

  test('whose call it is stays longest where there is little room', () => {
    const state = viewerOf(recording('mcp-fan-out'));
    const entry = state.entries.items.find(({ event: { message } }) => message.type === 'mcpCallResult');
    if (entry === undefined) throw new Error('no result was found');
    expect(fittingSummary(entry, 80)).toBe(entry.summary);
    expect(fittingSummary(entry, 25)).toBe('older: initialize: result');
    expect(fittingSummary(entry, 14)).toBe('older: result');
  });

  test('a request in little room is what it asks for', () => {
    const seen = factsOf(recording('mcp-tool-error'));
    expect(fittingLine(seen, 80)).toBe('POST 127.0.0.1/mcp tools/call everything_get-sum');
    expect(fittingLine(seen, 44)).toBe('POST /mcp tools/call everything_get-sum');
    expect(fittingLine(seen, 30)).toBe('tools/call everything_get-sum');
    expect(fittingLine(seen, 12)).toMatch(/^tools.*…/);
  });

  test('events of servers of other versions are shown, whatever they lack', () => {
    for (const type of ['mcpRequest', 'mcpResponse', 'mcpCallStart', 'mcpCallResult']) {
      const decoded = decodeTraceEvent({ eventEnd: 1, message: { type } });
      if (decoded === undefined) throw new Error(type);
      expect(() => factsOf([decoded])).not.toThrow();
      expect(summaryOf(decoded)).toContain('request');
    }
  });
});

describe('the screen', () => {
  test('has what was asked beside what came of it, for the client and for each server', () => {
    const events = recording('mcp-tool-error');
    const { mcp } = factsOf(events);
    if (mcp === undefined) throw new Error('no call was found');
    const shown = askedAndAnswered(mcp, {
      selected: mcp.calls[0]?.answered ?? -1,
      eventAt: (at) => events[at],
      numberOf: (at) => `#${at + 1}`,
      columns: 80,
      format: 'yaml',
    });
    expect(shown?.title).toBe('Asked → answered, #11 → #14');
    expect(shown?.text).toMatch(/a: x.*│/);
    expect(shown?.text).toContain('isError: true');
    expect(bothOf(mcp, 0)).toBeUndefined();
  });

  test('finds events by the scope that they are in', () => {
    const { entries } = viewerOf(recording('mcp-fan-out'));
    const found = entries.items.slice(0, entries.length).filter((entry) => matches(entry, parseQuery('scope:older')));
    expect(found.length).toBeGreaterThan(2);
    expect(found.every(({ event: { scope } }) => scope?.includes('older'))).toBe(true);
  });

  test('has the tree in the overview, as data in JSON', () => {
    const state = press(viewerOf(recording('mcp-fan-out')), 'g');
    expect(state.detail.lines.join('\n')).toMatch(/# older {2}sse 2025-11-25\n# ╰ ✓ initialize/);
    const both = viewerOf([...recording('mcp-fan-out'), ...recording('mcp-tool-error')]);
    expect(press(both, 'g', 'f').detail.lines.join('\n')).toContain('"calls": [');
  });
});
