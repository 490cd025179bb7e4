import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesGlob, nameFilter } from '../../src/admin/views/name-filter.ts';

describe('a glob', () => {
  test.each([
    ['cart', 'cart', true],
    ['cart', 'car', false],
    ['car', 'cart', false],
    ['', '', true],
    ['', '*', true],
    ['cart', '*', true],
    ['cart', 'c?rt', true],
    ['crt', 'c?rt', false],
    ['shop/cart', '*cart', true],
    ['shop/cart', 'shop/*', true],
    ['a.b.example', '*.example', true],
    ['a.b.example', '?.example', false],
    ['mississippi', 'm*iss*pi', true],
    ['mississippi', 'm*issx*pi', false],
    ['商店', '?店', true],
    ['🛒', '?', true],
    ['[a]', '[a]', true],
    ['a', '[a]', false],
    ['a.c', 'a.c', true],
    ['abc', 'a.c', false],
  ])('%j matched with %j is %s', (text, glob, expected) => {
    expect(matchesGlob(text, glob)).toBe(expected);
  });

  test('says the same as a regular expression of the same meaning', () => {
    const short = (letters: readonly string[]) => fc.array(fc.constantFrom(...letters), { maxLength: 8 });
    fc.assert(
      fc.property(short(['a', 'b']), short(['a', 'b', '*', '?']), (text, glob) => {
        const pattern = glob.map((letter) => (letter === '*' ? '.*' : letter === '?' ? '.' : letter)).join('');
        return matchesGlob(text.join(''), glob.join('')) === new RegExp(`^${pattern}$`).test(text.join(''));
      }),
    );
  });

  test('of many stars is decided at once', () => {
    expect(matchesGlob('a'.repeat(2000), `${'a*'.repeat(200)}b`)).toBe(false);
  });
});

describe('a filter', () => {
  test('lets everything through without patterns', () => {
    expect([nameFilter([])([]), nameFilter([])(['x'])]).toEqual([true, true]);
  });

  test('needs one name and one pattern that go together, capitals aside', () => {
    const wanted = nameFilter(['Cart', '*.example']);
    expect(wanted(['x', 'cart'])).toBe(true);
    expect(wanted(['A.EXAMPLE'])).toBe(true);
    expect(wanted(['x', 'carts'])).toBe(false);
  });

  test('never takes a missing name for a name', () => {
    expect(nameFilter(['*'])([''])).toBe(false);
  });
});
