import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { formatTraceparent, parseTraceparent, SpanIds } from '../../../../proxy/telemetry/spans/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

const hex = (digits: number) =>
  fc
    .string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: digits, maxLength: digits })
    .filter((text) => /[^0]/.test(text));

describe('a traceparent', () => {
  test('tells trace, parent and flags', () => {
    expect(parseTraceparent(VALID)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.flags).toBe(0);
  });

  test('keeps the flags that are known and no others', () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.flags).toBe(3);
  });

  test.each([
    ['an empty text', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', VALID.toUpperCase()],
    ['other digits', `00-${TRACE.replace('4', 'g')}-${SPAN}-01`],
    ['a short trace id', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['a long span id', `00-${TRACE}-${SPAN}0-01`],
    ['three fields', `00-${TRACE}-${SPAN}`],
    ['a fifth field in version 00', `${VALID}-extra`],
    ['blanks around it', ` ${VALID} `],
    ['two joined by a comma', `${VALID},${VALID}`],
    ['a line break', `${VALID}\n`],
    ['100 kB of a later version', `01-${TRACE}-${SPAN}-01-${'x'.repeat(100_000)}`],
  ])('is none: %s', (_name, text) => {
    expect(parseTraceparent(text)).toBeNull();
  });

  test('of a later version may have further fields', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-what-comes`)).toEqual(parseTraceparent(VALID));
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01`)).not.toBeNull();
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01extra`)).toBeNull();
  });

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 3 }), (traceId, spanId, flags) => {
        expect(parseTraceparent(formatTraceparent({ traceId, spanId, flags }))).toEqual({ traceId, spanId, flags });
      }),
    );
  });

  test('never makes the parser throw, and what it takes is well formed', () => {
    const almost = fc.tuple(hex(2), hex(32), hex(16), hex(2), fc.string()).map((parts) => parts.join('-'));
    fc.assert(
      fc.property(fc.oneof(fc.string(), almost, fc.string({ unit: 'binary' })), (text) => {
        const context = parseTraceparent(text);
        expect(context === null ? null : parseTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });
});

describe('ids', () => {
  test('are of the right length and differ', () => {
    const ids = new SpanIds();
    const spans = new Set(Array.from({ length: 2000 }, () => ids.spanId()));
    const traces = new Set(Array.from({ length: 2000 }, () => ids.traceId()));
    expect([spans.size, traces.size]).toEqual([2000, 2000]);
    expect([...spans].every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
    expect([...traces].every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true);
  });

  test('are never all zero', () => {
    let fills = 0;
    const ids = new SpanIds((pool) => pool.fill(fills++ === 0 ? 0 : 7));
    expect(ids.spanId()).toBe('07'.repeat(8));
  });
});
