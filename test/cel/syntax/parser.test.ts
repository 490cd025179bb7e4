import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { partsOf, type Expr } from '../../../src/cel/syntax/ast.ts';
import { MAX_NESTING, MAX_SOURCE, parse } from '../../../src/cel/syntax/parser.ts';
import { CelSyntaxError } from '../../../src/cel/syntax/syntax-error.ts';

function errorOf(source: string): CelSyntaxError {
  try {
    parse(source);
  } catch (error) {
    if (error instanceof CelSyntaxError) return error;
    throw error;
  }
  throw new Error(`${source} was accepted`);
}

describe('syntax errors', () => {
  test.each([
    ['', 1, 1, 'expected an expression, found the end'],
    ['jwt.sub ==', 1, 11, 'expected an expression, found the end'],
    ['a &&\n  b ||| c', 2, 7, 'unexpected character'],
    ['f(a, )', 1, 6, 'expected an expression, found `)`'],
    ['[1, 2', 1, 6, 'expected `]`, found the end'],
    ['a b', 1, 3, 'expected an operator, found `b`'],
    ['"abc', 1, 1, 'the string is not closed'],
    ['"a\nb"', 1, 1, 'the string is not closed'],
    ['"\\q"', 1, 2, 'unknown escape'],
    ['"\\ud800"', 1, 2, 'the escape is no Unicode character'],
    ["b'\\u0041'", 1, 3, '\\u is not for bytes'],
    ['9223372036854775808', 1, 1, 'the number is too large for an int'],
    ['18446744073709551616u', 1, 1, 'the number is too large for a uint'],
    ['1e999', 1, 1, 'the number is too large for a double'],
    ['12abc', 1, 1, 'malformed number'],
    ['-1u', 1, 1, 'a uint has no sign'],
    ['while', 1, 1, 'while is a reserved word'],
    ['has(jwt)', 1, 1, 'has() takes one field selection, such as has(jwt.sub)'],
    ['has(a["b"])', 1, 1, 'has() takes one field selection, such as has(jwt.sub)'],
    ['l.map(1, 2)', 1, 7, 'map() takes a plain name here'],
    ['l.all(x, x, true)', 1, 10, 'all() takes two different names'],
    ['l.filter(x)', 1, 1, 'filter() takes 2 arguments, not 1'],
    ['a.in', 1, 3, 'expected a name, found `in`'],
    ['a # b', 1, 3, 'unexpected character "#"'],
    ['€', 1, 1, 'unexpected character "€"'],
  ])('%j', (source, line, column, reason) => {
    const error = errorOf(source);
    expect([error.line, error.column, error.reason]).toEqual([line, column, expect.stringContaining(reason)]);
    expect(error.message).toContain(`(line ${line}, column ${column})`);
    expect(error.code).toBe('GW_CEL_SYNTAX');
  });
});

describe('limits', () => {
  test('parentheses, lists and arguments nest to a limit', () => {
    const nested = (depth: number, open: string, close: string) => open.repeat(depth) + 'a' + close.repeat(depth);
    for (const [open, close] of [
      ['(', ')'],
      ['[', ']'],
      ['f(', ')'],
      ['a[', ']'],
      ['{1: ', '}'],
    ] as const) {
      expect(() => parse(nested(MAX_NESTING - 1, open, close))).not.toThrow();
      expect(errorOf(nested(MAX_NESTING, open, close)).reason).toContain(`nested more than ${MAX_NESTING} deep`);
    }
  });

  test('chains are long, not deep', () => {
    expect(() => parse(Array.from({ length: 1500 }, (_, i) => `a<${i}`).join(' || '))).not.toThrow();
    expect(() => parse(Array.from({ length: 500 }, () => 'a').join(' + '))).not.toThrow();
    expect(() => parse(`${'a ? b : '.repeat(400)}c`)).not.toThrow();
    expect(() => parse('!'.repeat(16_000) + 'a')).not.toThrow();
    expect(() => parse('- '.repeat(8000) + 'a')).not.toThrow();
  });

  test('chains that would make the tree too deep are refused, not a crash', () => {
    expect(errorOf(Array.from({ length: 5000 }, () => 'a').join('+')).reason).toBe('nested too deeply');
    expect(errorOf(`a${'.b'.repeat(8000)}`).reason).toBe('nested too deeply');
    expect(errorOf(`a${'.f()'.repeat(4000)}`).reason).toBe('nested too deeply');
    expect(errorOf(`a${'[0]'.repeat(5000)}`).reason).toBe('nested too deeply');
    expect(errorOf(`${'a?b:'.repeat(4000)}c`).reason).toBe('nested too deeply');
  });

  test('the source has a longest length', () => {
    expect(() => parse(`"${'a'.repeat(MAX_SOURCE - 2)}"`)).not.toThrow();
    expect(errorOf(`"${'a'.repeat(MAX_SOURCE - 1)}"`).reason).toContain('longer than');
  });
});

describe('any input', () => {
  const pieces = fc.constantFrom(
    'a',
    'b.c',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '?',
    '&&',
    '||',
    '!',
    '-',
    '+',
    '==',
    '<',
    'in',
    '1',
    '2u',
    '1.5',
    '"s"',
    "'",
    '"""',
    'b"x"',
    'r"\\"',
    '\\',
    'has(',
    'x.map(',
    'exists',
    'true',
    'null',
    '//',
    '\n',
    '`a-b`',
    'cel.bind(',
    '0x',
    '.?',
    '[?',
  );
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(pieces, { maxLength: 60 }).map((list) => list.join('')),
    fc.array(pieces, { maxLength: 60 }).map((list) => list.join(' ')),
  );

  test('is an expression or a syntax error with a place in it', () => {
    fc.assert(
      fc.property(texts, (source) => {
        expect(outcomeOf(source)).toBe('as promised');
      }),
      { numRuns: 3000 },
    );
  });

  function outcomeOf(source: string): string {
    try {
      return rangesHold(parse(source), source.length) ? 'as promised' : 'a part outside of the text';
    } catch (error) {
      if (!(error instanceof CelSyntaxError)) throw error;
      return error.offset >= 0 && error.offset <= source.length ? 'as promised' : 'a place outside of the text';
    }
  }

  function rangesHold(expr: Expr, length: number): boolean {
    return (
      expr.start >= 0 &&
      expr.start < expr.end &&
      expr.end <= length &&
      partsOf(expr).every((part) => rangesHold(part, length))
    );
  }
});
