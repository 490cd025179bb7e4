import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { parseCredentials } from '../../../../proxy/policy/basic-auth/credentials.ts';

const encode = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');

describe('credentials', () => {
  test.each([
    ['ann:secret', { name: 'ann', password: 'secret' }],
    ['ann:se:cr:et', { name: 'ann', password: 'se:cr:et' }],
    ['ann:', { name: 'ann', password: '' }],
    [':secret', { name: '', password: 'secret' }],
    [':', { name: '', password: '' }],
    ['gr\u00fc\u00df:\u65e5\u672c', { name: 'gr\u00fc\u00df', password: '\u65e5\u672c' }],
    ['\ufeffann:x', { name: '\ufeffann', password: 'x' }],
    ['ann', null],
    ['', null],
    ['ann:se\u0000cret', null],
    ['a\nnn:secret', null],
    ['ann:secret\u007f', null],
    [`ann:${'x'.repeat(512)}`, { name: 'ann', password: 'x'.repeat(512) }],
    [`ann:${'x'.repeat(513)}`, null],
    [`ann:${'x'.repeat(100_000)}`, null],
  ])('%j', (text, expected) => {
    expect(parseCredentials(encode(text))).toEqual(expected);
  });

  test.each([
    ['Latin-1', encode(Buffer.from('gr\u00fc\u00df:x', 'latin1'))],
    ['no padding', 'YTpiYg'],
    ['too much padding', 'YTpi===='],
    ['the alphabet of URLs', encode('a:??').replaceAll('/', '_')],
    ['white space', ' YTpi'],
    ['a line break', 'YT\npi'],
    ['bits behind the end', 'YTpjZF=='],
    ['no base64', 'ann:secret'],
  ])('in %s are none', (_what, encoded) => {
    expect(parseCredentials(encoded)).toBeNull();
  });

  test('come back as they were written', () => {
    const name = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':'));
    fc.assert(
      fc.property(name, fc.string({ unit: 'grapheme', maxLength: 60 }), (user, password) => {
        const control = [...`${user}${password}`].some(
          (character) => /\p{Cc}/u.test(character) && character < '\u0080',
        );
        const parsed = parseCredentials(encode(`${user}:${password}`));
        expect(parsed).toEqual(control ? null : { name: user, password });
      }),
    );
  });

  test('are looked for in anything without failing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (encoded) => {
        const parsed = parseCredentials(encoded);
        expect(parsed === null || typeof parsed.password === 'string').toBe(true);
      }),
    );
  });
});
