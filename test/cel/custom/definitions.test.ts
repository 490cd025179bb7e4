import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDefinitions } from '../../../src/cel/custom/definitions.ts';
import { CelSyntaxError } from '../../../src/cel/syntax/syntax-error.ts';
import { shown } from '../evaluate.ts';

function problem(text: string): string {
  try {
    parseDefinitions(text, (name) => name === 'size');
    return 'none';
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

describe('definitions of functions', () => {
  test.each([
    ['f() { 1', 'the body of f is not closed (line 1, column 1)'],
    ['f() { "a }', 'the string is not closed (line 1, column 7)'],
    ['f() { "a\n" }', 'the string is not closed (line 1, column 7)'],
    ['# one\nsize(x) { x }', 'there is a built-in function size (line 2, column 1)'],
    ['f() { 1 }\nf() { 2 }', 'the function f is defined twice (line 2, column 1)'],
    ['f() { g() }\ng() { f() }', 'the function f calls itself (line 1, column 1)'],
    ['f() { 1 + }', 'expected an expression, found the end (line 1, column 11)'],
    ['f(a..., b) { 1 }', 'only the last parameter can take several arguments (line 1, column 1)'],
    ['f(a, a) { 1 }', 'parameters need names of their own (line 1, column 1)'],
    ['f(1) { 1 }', 'expected parameters such as (a, b, rest...) (line 1, column 1)'],
    ['f = 1', 'expected a definition such as name(parameters) { expression } (line 1, column 1)'],
    [
      Array.from({ length: 501 }, (_, i) => `f${i}() { ${i} }`).join('\n'),
      'more than 500 functions (line 501, column 1)',
    ],
  ])('%.30j: %s', (text, message) => {
    expect(problem(text)).toBe(message);
  });

  test.each([
    ['f() { {"}": "{"}["}"] }', '{'],
    ["f() { '}' + r'\\' + \"\\\"}\" }", '}\\"}'],
    ['f() { """}"{ """ + \'\'\'}\'\'\' }', '}"{ }'],
    ['f() { // }\n  "a" }', 'a'],
    ['f() { string(b"}") + string(rb"}\\") }', '}}\\'],
  ])('braces in literals and comments are none: %s', (text, value) => {
    expect(shown('f()', {}, text)).toBe(value);
  });

  test('as long a chain of calls as there may be is compiled and evaluated', () => {
    const chain = Array.from({ length: 499 }, (_, i) => `f${i}(x) { f${i + 1}(x) }`);
    expect(shown('f0(7)', {}, [...chain, 'f499(x) { x }'].join('\n'))).toBe(7);
  });

  test.each(['f() {' + '\\"'.repeat(500_000), `f() {${'"'.repeat(500_000)}`, `f(${' '.repeat(1_000_000)}`])(
    'text made to be slow is read in one pass',
    (text) => {
      expect(problem(text)).not.toBe('none');
    },
  );

  test('any text is definitions, or wrong at a place', () => {
    const pieces = fc.constantFrom(
      'f',
      '(',
      ')',
      '{',
      '}',
      'this.',
      'x',
      ',',
      '...',
      '"',
      "'",
      '"""',
      'r',
      '\\',
      '\n',
      '#',
      '//',
      '1',
      ' ',
      '+',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(pieces, { maxLength: 60 }).map((list) => list.join('')),
      fc.array(pieces, { maxLength: 30 }).map((list) => `f(x) { ${list.join('')} }`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(problem(text)).toMatch(/^none$|\(line \d+, column \d+\)$/);
      }),
      { numRuns: 2000 },
    );
  });
});
