import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { testerOf } from '../../../src/cel/library/regex-scan.ts';

const atoms = fc.constantFrom(
  'a',
  'b',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\d',
  '\\s',
  'é',
  '日',
  '\\b',
  '^',
  '$',
  '\\n',
  '\\x{1F600}',
);
const patterns = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atoms,
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?')).map(([a, op]) => `(${a})${op}`),
    fc.tuple(fc.constantFrom('i', 'm', 's'), tie('pattern')).map(([flag, a]) => `(?${flag}:${a})`),
  ),
})).pattern;
const texts = fc
  .array(fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', '_', 'é', '日', '😀', '\ud83d'), { maxLength: 12 })
  .map((list) => list.join(''));

test('finds what re2js finds, the same answer at each asking', () => {
  fc.assert(
    fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 8 }), (pattern, list) => {
      const scan = testerOf(RE2JS.compile(pattern));
      for (const text of [...list, ...list]) {
        expect([pattern, text, scan(text)]).toEqual([pattern, text, RE2JS.compile(pattern).test(text)]);
      }
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['^/v[0-9]+/items/', ['/v1/items/42', '/v/items/', 'x/v1/items/', '']],
  ['(?m)^b$', ['a\nb', 'a\nb\nc', 'ab', 'b']],
  ['\\bword\\b', ['a word', 'words', 'word', 'sword word']],
  ['(?i)straße', ['STRASSE', 'Straße', 'STRAẞE']],
  ['^$', ['', '\n', 'a']],
  ['[^\\x00-\\x7f]', ['abc', 'abcé', '日本']],
])('%s', (pattern, list) => {
  const regex = RE2JS.compile(pattern);
  const scan = testerOf(regex);
  for (const text of list) expect([text, scan(text)]).toEqual([text, regex.test(text)]);
});

test('a pattern that needs ever more states is answered all the same, within its memory', () => {
  const regex = RE2JS.compile('(a|b)*a(a|b){14}c');
  const scan = testerOf(regex);
  let text = '';
  // A sequence without a period: each place has another history.
  for (let i = 1; text.length < 200_000; i++) text += i.toString(2).replaceAll('0', 'a').replaceAll('1', 'b');
  expect(scan(text)).toBe(false);
  expect(scan(`${text}a${'b'.repeat(14)}c`)).toBe(true);
  const { dfa } = regex.re2Input as unknown as { dfa: { stateBudget: number; memBudget: number } }; // a getter its types leave out
  expect(dfa.stateBudget).toBe(1024 * 1024);
  expect(dfa.memBudget).toBeGreaterThanOrEqual(0);
});

test('the engine of regular expressions is loaded by the first expression that has one', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const script = `
    import { createRequire } from 'node:module';
    import { createExpressions } from './proxy/expression/expressions.ts';
    const { cache } = createRequire(process.cwd() + '/x.js');
    const loaded = () => Object.keys(cache).some((path) => path.includes('re2js'));
    const expressions = createExpressions();
    expressions.compile('request.path.startsWith("/a") && "a".replace("a", "b") == "b"', 'test');
    const before = loaded();
    expressions.compile('request.path.matches("^/a")', 'test');
    console.log(JSON.stringify([before, loaded()]));`;
  const out = execFileSync(process.execPath, ['--no-warnings', '--input-type=module-typescript', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(JSON.parse(out)).toEqual([false, true]);
});
