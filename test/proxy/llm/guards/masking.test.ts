import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';

import { Masking, maskWhole } from '../../../../proxy/llm/guards/regex/masking.ts';
import { compileRule, type Rule } from '../../../../proxy/llm/guards/regex/rule.ts';
import type { RegexRule } from '../../../../src/config/ir/llm.ts';

type Builtin = Extract<RegexRule, { kind: 'builtin' }>['builtin'];

const builtin = (name: Builtin): Rule => compileRule({ kind: 'builtin', builtin: name });
const pattern = (source: string): Rule => compileRule({ kind: 'pattern', pattern: source });
const masked = (rule: Rule, text: string): string => maskWhole(rule, text) ?? text;

describe('built-in patterns', () => {
  test.each<[Builtin, string, string]>([
    ['ssn', 'mine is 123-45-6789.', 'mine is <SSN>.'],
    ['ssn', '123456789', '<SSN>'],
    ['ssn', '12345-6789 and 123-456789', '<SSN> and <SSN>'],
    ['ssn', '123 45 6789, 123.45.6789', '<SSN>, <SSN>'],
    ['ssn', 'order 1234567890', 'order 1234567890'],
    ['ssn', 'a123-45-6789', 'a123-45-6789'],
    ['creditCard', '4111 1111 1111 1111', '<CREDIT_CARD>'],
    ['creditCard', 'card 4111-1111-1111-1112!', 'card <CREDIT_CARD>!'],
    ['creditCard', '5500000000000004 6011000000000004', '<CREDIT_CARD> <CREDIT_CARD>'],
    ['creditCard', '3782 822463 10005', '<CREDIT_CARD>'],
    ['creditCard', '378282246310005', '<CREDIT_CARD>'],
    ['creditCard', '2111 1111 1111 1111', '2111 1111 1111 1111'],
    ['email', 'write to a.b+c@mail.example.com now', 'write to <EMAIL_ADDRESS> now'],
    ['email', 'a@b.co. Next', '<EMAIL_ADDRESS> Next'],
    ['email', 'a@b or @c.de', 'a@b or @c.de'],
    ['caSin', '046 454 286 and 046-454-286', '<CA_SIN> and <CA_SIN>'],
    ['caSin', '046454286', '<CA_SIN>'],
    ['phoneNumber', '212-555-1234', '<PHONE_NUMBER>'],
    ['phoneNumber', 'call +44 20 7946 0958!', 'call <PHONE_NUMBER>!'],
    ['phoneNumber', 'call (212) 555-1234, please', 'call <PHONE_NUMBER>, please'],
    ['phoneNumber', 'tel 030 901820', 'tel <PHONE_NUMBER>'],
    ['phoneNumber', 'order 000-000-0000', 'order 000-000-0000'],
    ['phoneNumber', 'in 1999 and 2024', 'in 1999 and 2024'],
  ])('%s: %s', (name, text, expected) => {
    expect(masked(builtin(name), text)).toBe(expected);
  });

  test('overlapping finds are one', () => {
    expect(masked(builtin('ssn'), '123-45-6789-123-45-6789')).toBe('<SSN>-<SSN>');
    expect(masked(builtin('ssn'), '12345-6789 45-6789')).toBe('<SSN> 45-6789');
  });
});

describe('patterns', () => {
  test.each([
    ['secret', 'a secret, a Secret', 'a <masked>, a Secret'],
    ['(?i)secret', 'a secret, a Secret', 'a <masked>, a <masked>'],
    ['x*', 'axxb', 'a<masked>b'],
    ['a|ab', 'abab', '<masked>b<masked>b'],
    ['^go', 'go go', '<masked> go'],
    ['end$', 'end end', 'end <masked>'],
    ['\\p{Greek}+', 'is αβγ', 'is <masked>'],
  ])('%s', (source, text, expected) => {
    expect(masked(pattern(source), text)).toBe(expected);
  });

  test('look-around is none of theirs', () => {
    expect(() => pattern('(?<=a)b')).toThrow(/promptGuard regex/);
  });
});

/** What the library that all other patterns of a configuration use makes of a text. */
function reference(source: string, text: string): string {
  const matcher = RE2JS.compile(source).matcher(text);
  let out = '';
  let at = 0;
  while (matcher.find()) {
    if (matcher.end() === matcher.start()) continue;
    out += `${text.slice(at, matcher.start())}<masked>`;
    at = matcher.end();
  }
  return out + text.slice(at);
}

const SOURCES = [
  'a+b',
  'a.*z|b',
  '\\bfoo\\b',
  '(?i)sec(ret)?',
  '^x+',
  'x+$',
  'a*',
  'a*?b',
  '|a',
  '(a|ab)(c|bcd)',
  '[^a]{2,3}?',
  'é+|\\x{1F600}',
  '(?s)a.*?c',
  '\\Bb',
  '(?m)^a',
  '(?m)a$',
];
const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'x', 'z', 'foo', ' ', '\n', 'secret', 'SEC', 'é', '😀', '\ud83d', '\ude00'), {
    maxLength: 14,
  })
  .map((parts) => parts.join(''));
const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 });

/** The text in pieces of these lengths, again and again. */
function pieces(whole: string, lengths: readonly number[]): string[] {
  const out: string[] = [];
  for (let at = 0, i = 0; at < whole.length; i++) {
    const length = lengths[i % lengths.length] ?? 1;
    out.push(whole.slice(at, at + length));
    at += length;
  }
  return out;
}

describe('a text in pieces', () => {
  test('comes out as the whole text does, and never shows more on the way', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SOURCES), text, cuts, (source, whole, lengths) => {
        const expected = reference(source, whole);
        const rule = pattern(source);
        expect(masked(rule, whole)).toBe(expected);
        const masking = new Masking(rule);
        let out = '';
        for (const piece of pieces(whole, lengths)) {
          out += masking.push(piece, false);
          expect(expected.startsWith(out)).toBe(true);
        }
        expect(out + masking.push('', true)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  const personal = fc
    .array(
      fc.oneof(
        fc.constantFrom('123-45-6789', '123456789', '4111 1111 1111 1111', 'a@b.com', '046 454 286', '212-555-1234'),
        fc.constantFrom(' ', ', ', 'my ', 'x', '1', '-', '.', '@', '+', '(', '🙂', '\n'),
      ),
      { maxLength: 10 },
    )
    .map((parts) => parts.join(''));

  test.each<[Builtin]>([['ssn'], ['creditCard'], ['email'], ['caSin'], ['phoneNumber']])(
    '%s: comes out as the whole text does',
    (name) => {
      const rule = builtin(name);
      fc.assert(
        fc.property(personal, cuts, (whole, lengths) => {
          const expected = masked(rule, whole);
          const masking = new Masking(rule);
          let out = '';
          for (const piece of pieces(whole, lengths)) {
            out += masking.push(piece, false);
            expect(expected.startsWith(out)).toBe(true);
          }
          expect(out + masking.push('', true)).toBe(expected);
        }),
        { numRuns: 500 },
      );
    },
  );

  test('what can be no part of a match leaves at once', () => {
    const masking = new Masking(builtin('ssn'));
    expect(masking.push('Hello, wor', false)).toBe('Hello, wor');
    expect(masking.push('ld 12', false)).toBe('ld ');
    expect(masking.push('3 apples', false)).toBe('123 apples');
    expect(masking.push(' 123-45-67', false)).toBe(' ');
    expect(masking.push('89', false)).toBe('');
    expect(masking.push('.', false)).toBe('<SSN>.');
  });

  test('a match that does not end is masked before it takes more than the window', () => {
    const masking = new Masking(pattern('key-[a-z]+'), 64);
    expect(masking.push('key-', false)).toBe('');
    let out = '';
    for (let i = 0; i < 50; i++) out += masking.push('aaaa', false);
    expect(out.startsWith('<masked>')).toBe(true);
  });

  test('a beginning that never becomes a match is held no longer than the window', () => {
    const rule = pattern('(?s)BEGIN.*END');
    const masking = new Masking(rule, 64);
    let out = '';
    let given = 0;
    for (const piece of pieces(`BEGIN ${'x'.repeat(500)}`, [7])) {
      given += piece.length;
      out += masking.push(piece, false);
      expect(given - out.length).toBeLessThanOrEqual(64 + 7);
    }
    expect(out + masking.push('', true)).toBe(`BEGIN ${'x'.repeat(500)}`);
  });

  test('takes time in proportion to its length where matches overlap the window', () => {
    const masking = new Masking(pattern('a.*z|a'));
    let length = 0;
    for (let i = 0; i < 50; i++) length += masking.push('a'.repeat(2000), false).length;
    expect(length).toBeGreaterThan(0);
  });
});
