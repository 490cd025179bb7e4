import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseTraceEvent } from '../../../src/admin/protocol/decode-trace-event.ts';
import { width } from '../../../ui/terminal/text.ts';
import { renderTrace } from '../../../ui/text/trace.ts';
import { golden } from '../../golden.ts';

const events = (name: string) =>
  readFileSync(new URL(`../../fixtures/traces/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map(parseTraceEvent);

describe('the plain trace', () => {
  test.each([40, 80, 120])('fits a terminal of %i columns', (columns) => {
    const text = renderTrace(events('plain-200'), { width: columns });
    expect(text).toBe(golden(`cli/trace-plain-200-${columns}.txt`, text));
    for (const line of text.split('\n').slice(2, -3)) expect(width(line)).toBeLessThanOrEqual(Math.max(columns, 52));
  });

  test('says which step was slowest and what became of the request', () => {
    const text = renderTrace(events('timeout-504'));
    expect(text).toMatch(/slowest step: .+ \(\d+ %\)/);
    expect(text).toMatch(/total .+, status 504/);
  });

  test.each(['mcp-fan-out', 'mcp-tool-error', 'a2a-stream'])('nests what servers were asked: %s', (name) => {
    const text = renderTrace(events(name), { width: 100 });
    expect(text).toBe(golden(`cli/trace-${name}.txt`, text));
  });

  test('an error that HTTP calls a success is one', () => {
    expect(renderTrace(events('mcp-tool-error'))).toMatch(/total .+, status 200, tool error/);
  });

  test('says why losing routes lost', () => {
    expect(renderTrace(events('no-route-404'))).toContain('not ');
  });

  test('no events are no request', () => {
    expect(renderTrace([])).toContain('total 0s, not finished');
  });
});
