import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CelError } from '../../src/cel/value/value.ts';
import { compile, evaluate } from './evaluate.ts';

const long = 'a'.repeat(200_000);
const numbers = Array.from({ length: 2000 }, (_, i) => i);

function errorOf(source: string, variables = {}): string {
  const value = evaluate(source, variables);
  return value instanceof CelError ? value.kind : 'no failure';
}

describe('an expression that would take too long', () => {
  test.each([
    ['nested loops', 'l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d >= 0))))'],
    ['nested loops that find nothing', 'l.exists(a, l.exists(b, l.exists(c, a + b + c < 0)))'],
    ['nested loops over generated lists', 'lists.range(10000).map(a, lists.range(10000).map(b, a * b)).size() > 0'],
    ['long texts in a loop', 'l.all(a, t + t != t + t + t + string(a) && !t.contains("b" + t))'],
    ['lists compared in a loop', 'l.all(a, l.map(b, b) == l.map(b, b))'],
    [
      'regular expressions compiled in a loop',
      'l.exists(a, l.exists(b, "x".matches("(a{1,900}){1,1}" + string(a) + string(b))))',
    ],
    ['a regular expression that meets a long text', 't.matches("a.{500}[^a]") || t.matches("a.{400}[^a]")'],
    ['JSON in a loop', 'l.all(a, l.all(b, toJson(l) != ""))'],
    ['time zones in a loop', 'l.all(a, l.all(b, timestamp(a).getHours("Europe/Paris") >= 0))'],
    ['sorting in a loop', 'l.all(a, l.sort() == l.sort())'],
  ])('%s', (_, source) => {
    expect(errorOf(source, { l: numbers, t: long })).toBe('limit');
  });

  test('values that double at each step', () => {
    const doubled = (open: string, levels: number) =>
      `${Array.from({ length: levels }, (_, i) => `cel.bind(v${i + 1}, [v${i}, v${i}], `).join('')}${open}${')'.repeat(levels)}`;
    expect(errorOf(`cel.bind(v0, [1], ${doubled('toJson(v40)', 40)})`)).toBe('limit');
    const other = doubled('v20 == w20', 20).replaceAll(/(cel\.bind\()v(\d+), \[v(\d+), v(\d+)\]/g, '$1w$2, [w$3, w$4]');
    expect(errorOf(`cel.bind(v0, [x], ${doubled(`cel.bind(w0, [x], ${other})`, 20)})`, { x: 1 })).toBe('limit');
    expect(errorOf(`cel.bind(v0, [1], ${doubled('"%s".format([v40])', 40)})`)).toBe('limit');
  });

  test('texts do not grow without end', () => {
    const grown = `${Array.from({ length: 30 }, (_, i) => `cel.bind(v${i + 1}, v${i} + v${i}, `).join('')}v30${')'.repeat(30)}`;
    expect(errorOf(`cel.bind(v0, t, ${grown})`, { t: 'ab' })).toBe('limit');
    expect(errorOf('t.replace("a", t)', { t: long })).toBe('limit');
    expect(errorOf('l.map(x, t).join(t)', { t: long, l: numbers })).toBe('limit');
    expect(errorOf('"%s%s%s".format([l.map(x, t), t, t])', { t: long, l: numbers })).toBe('limit');
  });

  test('a search made to be slow is not', () => {
    const text = 'a'.repeat(1 << 20);
    const part = `${'a'.repeat(4000)}b${'a'.repeat(4000)}`;
    const variables = { text, part };
    expect(evaluate('text.contains(part) || part in text || text.indexOf(part) != -1', variables)).toBe(false);
    expect(evaluate('text.lastIndexOf(part) == -1 && text.split(part) == [text]', variables)).toBe(true);
    expect(evaluate('bytes(text).contains(bytes(part))', variables)).toBe(false);
    expect(evaluate('(text + part + text).split(part) == [text, text]', variables)).toBe(true);
  });

  test('failing on the way to the limit does not hide it', () => {
    expect(errorOf('l.exists(a, l.exists(b, l.exists(c, a / 0 == b))) || true', { l: numbers })).toBe('no failure');
    expect(errorOf('default(l.map(a, l.map(b, l.map(c, c))), 1)', { l: numbers })).toBe('limit');
  });
});

test('what policies do with large bodies is within the bounds', () => {
  const text = JSON.stringify({
    model: 'm',
    messages: Array.from({ length: 20_000 }, (_, i) => ({ role: 'user', content: `text ${i}` })),
  });
  const variables = { text, list: Array.from({ length: 5000 }, (_, i) => `item-${i}`) };
  expect(evaluate('json(text).model', variables)).toBe('m');
  expect(evaluate('text.contains("no such text")', variables)).toBe(false);
  expect(evaluate('list.exists(i, i.startsWith("item-4999"))', variables)).toBe(true);
  expect(evaluate('list.filter(i, i.endsWith("9")).map(i, i.upperAscii()).size()', variables)).toBe(500);
  expect(evaluate('text.substring(0, 4000).matches("(?i)password|secret")', variables)).toBe(false);
});

test('whatever parses is evaluated without throwing', () => {
  const atoms = [
    'l',
    't',
    'x',
    '1',
    '-1',
    '0u',
    '2.5',
    '"a"',
    'b"b"',
    'null',
    'true',
    '[]',
    '{}',
    'duration("1s")',
    'nothing',
  ];
  const expressions = fc.letrec<{ expr: string }>((tie) => ({
    expr: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(...atoms),
      fc
        .tuple(tie('expr'), fc.constantFrom('+', '-', '*', '/', '%', '==', '<', '>=', 'in', '&&', '||'), tie('expr'))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc
        .tuple(
          tie('expr'),
          fc.constantFrom('size', 'string', 'int', 'toJson', 'type', 'json', 'base64.encode', 'math.abs', 'ip', 'max'),
        )
        .map(([a, f]) => `${f}(${a})`),
      fc
        .tuple(
          tie('expr'),
          fc.constantFrom('split', 'contains', 'indexOf', 'matches', 'startsWith', 'or', 'merge', 'join'),
          tie('expr'),
        )
        .map(([a, f, b]) => `${a}.${f}(${b})`),
      fc
        .tuple(
          tie('expr'),
          fc.constantFrom('map', 'filter', 'all', 'exists', 'existsOne', 'sortBy', 'mapValues', 'with'),
          tie('expr'),
        )
        .map(([a, f, b]) => `${a}.${f}(x, ${b})`),
      fc.tuple(tie('expr'), tie('expr')).map(([a, b]) => `${a}[${b}]`),
      fc.tuple(tie('expr'), tie('expr'), tie('expr')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc.tuple(tie('expr'), tie('expr')).map(([a, b]) => `{${a}: ${b}}`),
    ),
  })).expr;
  fc.assert(
    fc.property(expressions, (source) => {
      const value = compile(source, { l: [1, 'a', null], t: 'text', x: 7 }).evaluate(null);
      // Anything thrown becomes a message of JavaScript's own.
      const message = value instanceof CelError ? value.message : '';
      expect(message).not.toMatch(/is not a function|undefined|Cannot|Invalid/);
    }),
    { numRuns: 2000 },
  );
});
