import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { expandText } from '../../../src/config/load/expand.ts';

const env = { A: 'one', B: 'two words', EMPTY: '', HOME: '/home/user', YAML: 'x: 1\ny: 2', HASH: '# no comment' };

describe('expansion of the environment', () => {
  test.each([
    ['a plain variable', 'k: $A', 'k: one'],
    ['a variable in braces', 'k: ${A}x', 'k: onex'],
    ['several in a row', 'k: $A$A${B}', 'k: oneonetwo words'],
    ['a default that is not needed', 'k: ${A:-z}', 'k: one'],
    ['a default for one that is not defined', 'k: ${NOPE:-z z}', 'k: z z'],
    ['a default for an empty one', 'k: ${EMPTY:-z}', 'k: z'],
    ['an empty default', 'k: "${NOPE:-}"', 'k: ""'],
    ['an empty variable', 'k: "$EMPTY"', 'k: ""'],
    ['a doubled dollar', 'k: $$A ^a$$', 'k: $A ^a$'],
    ['a dollar before something else', 'k: "$ $. $"', 'k: "$ $. $"'],
    ['a comment line', '# $NOPE ${NOPE} ${\nk: $A', '# $NOPE ${NOPE} ${\nk: one'],
    ['a comment after a value', 'k: $A # $NOPE', 'k: one # $NOPE'],
    [
      'the comment that names the schema',
      '# yaml-language-server: $schema=x\nk: 1',
      '# yaml-language-server: $schema=x\nk: 1',
    ],
    ['a number sign inside double quotes', 'k: "a # $A"', 'k: "a # one"'],
    ['a number sign inside single quotes', "k: 'a # $A'", "k: 'a # one'"],
    ['a number sign in a block', 'k: |\n  # $A\n', 'k: |\n  # one\n'],
    ['a comment after a block header', 'k: | # $NOPE\n  $A\n', 'k: | # $NOPE\n  one\n'],
    ['a number sign without a space before it', 'k: a#$A', 'k: a#one'],
    ['flow collections', '[$A, {k: ${B}}]', '[one, {k: two words}]'],
    ['a variable that holds structure', '$YAML\n', 'x: 1\ny: 2\n'],
    ['a key', '$A: 1', 'one: 1'],
    ['a home directory', 'k: ~/x', 'k: /home/user/x'],
    ['a home directory in quotes', 'k: "~/x"', 'k: "/home/user/x"'],
    ['a tilde that means null', 'k: ~', 'k: ~'],
    ['a tilde inside a value', 'k: a~/x', 'k: a~/x'],
    ['carriage returns', 'k: $A\r\n# $NOPE\r\n', 'k: one\r\n# $NOPE\r\n'],
  ])('%s', (_, text, expected) => {
    expect(expandText(text, env)).toMatchObject({ text: expected, failures: [] });
  });

  test.each([
    ['an undefined variable', 'a: 1\nk: $NOPE', 8, 13, 'the environment variable NOPE is not defined'],
    ['an undefined variable in braces', 'k: ${NOPE}', 3, 10, 'the environment variable NOPE is not defined'],
    ['a digit after the dollar', 'k: $2y', 3, 6, 'the environment variable 2y is not defined'],
    ['an open brace', 'k: "${A"', 4, 6, 'expected ${NAME} or ${NAME:-default}'],
    ['empty braces', 'k: ${}', 3, 5, 'expected ${NAME} or ${NAME:-default}'],
  ])('%s is a failure with its place', (_, text, start, end, message) => {
    expect(expandText(text, env).failures).toMatchObject([{ start, end, message }]);
  });

  test('a home directory needs HOME', () => {
    expect(expandText('k: ~/x', {}).failures).toHaveLength(1);
  });

  test('every failure of a text is told', () => {
    expect(expandText('a: $X\nb: $Y\nc: ${', {}).failures).toHaveLength(3);
  });

  test('names of object methods are not variables', () => {
    expect(expandText('k: $toString', Object.create(null)).failures).toHaveLength(1);
  });

  test('offsets lead back to the original text', () => {
    const text = 'a: $A\nb: ${B}\nc: here';
    const expanded = expandText(text, env);
    expect(expanded.original(expanded.text.indexOf('here'))).toBe(text.indexOf('here'));
    expect(expanded.original(expanded.text.indexOf('words'))).toBe(text.indexOf('${B}'));
    expect(expanded.original(0)).toBe(0);
  });

  test('a text that grows without bounds is refused', () => {
    const huge = { A: 'x'.repeat(1024 * 1024) };
    expect(expandText(`k: ${'$A '.repeat(100)}`, huge).failures[0]?.message).toContain('64 MiB');
  });

  test('any text without dollars and tildes stays as it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => !/[$~]/.test(text)),
        (text) => expandText(text, env).text === text,
      ),
    );
  });

  test('any text with every dollar doubled comes out with single ones, comments aside', () => {
    const words = fc
      .array(fc.constantFrom('a', '$$', '"', "'", '\n', ': ', '- ', '[', ']', '{', '}', '|', '~', '\\', ' '))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        words.filter((text) => !text.includes('~/')),
        (text) => expandText(text, env).text === text.replaceAll('$$', '$'),
      ),
    );
  });
});
