import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { compileTarget } from '../../../proxy/credentials/location.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { CredentialTarget } from '../../../src/config/ir/policy/credential-location.ts';

function carrier(target: string, headers: readonly (readonly [string, string])[] = []) {
  return { request: { target, headers: Headers.from(headers) } };
}

const bearer: CredentialTarget = { kind: 'header', name: 'authorization', prefix: 'Bearer ' };
const parameter = (name: string): CredentialTarget => ({ kind: 'queryParameter', name });
const cookie = (name: string): CredentialTarget => ({ kind: 'cookie', name });

describe('a credential in a header', () => {
  test.each([
    ['Bearer abc', 'abc'],
    ['bEARER abc', 'abc'],
    ['Bearer  abc ', ' abc '],
    ['Bearer ', ''],
    ['Bearer', null],
    ['Basic abc', null],
    ['abc', null],
    ['', null],
  ])('%p reads as %p', (value, expected) => {
    expect(compileTarget(bearer).read(carrier('/', [['authorization', value]]))).toBe(expected);
  });

  test('is the first of several, and all of them are removed', () => {
    const request = carrier('/', [
      ['Authorization', 'Bearer one'],
      ['x-other', 'kept'],
      ['authorization', 'Bearer two'],
    ]);
    const location = compileTarget(bearer);
    expect(location.read(request)).toBe('one');
    location.remove(request);
    expect([...request.request.headers]).toEqual([['x-other', 'kept']]);
  });

  test('is not taken for one by letters whose lower case is an ASCII letter', () => {
    const location = compileTarget({ kind: 'header', name: 'x', prefix: 'K ' });
    expect(location.read(carrier('/', [['x', '\u212a secret']]))).toBeNull();
  });

  test.each(['a\r\nx-injected: 1', 'a\u0000', 'a\u007f'])('cannot hold %j', (value) => {
    const request = carrier('/', [['authorization', 'Bearer old']]);
    expect(compileTarget(bearer).insert(request, value)).toBe(false);
    expect(request.request.headers.getAll('authorization')).toEqual(['Bearer old']);
  });
});

describe('further credentials of one place', () => {
  test.each([
    ['/p?a=1&token=x&b=2&to%6ben=y&token=z&token', '/p?a=1&token=x&b=2'],
    ['/p?to%6ben=x&token=y', '/p?to%6ben=x'],
    ['/p?token=x', '/p?token=x'],
    ['/p?', '/p?'],
    ['/p', '/p'],
  ])('of %s leave %s', (target, left) => {
    const request = carrier(target);
    const location = compileTarget(parameter('token'));
    const first = location.read(request);
    location.removeOthers(request);
    expect(request.request.target).toBe(left);
    expect(location.read(request)).toBe(first);
  });

  test.each([
    [['a=1; token=x; token=y', 'b=2;token = z'], ['a=1; token=x; b=2']],
    [['a=1;  token=x'], ['a=1;  token=x']],
    [[], []],
  ])('of the cookies %j leave %j', (lines, left) => {
    const request = carrier(
      '/',
      lines.map((line) => ['cookie', line] as const),
    );
    compileTarget(cookie('token')).removeOthers(request);
    expect(request.request.headers.getAll('cookie')).toEqual(left);
  });
});

describe('a credential beyond ASCII', () => {
  const octets = Buffer.from('gr\u00fc\u00df \u0142').toString('latin1');

  test('is UTF-8 on the wire and text here', () => {
    const request = carrier('/');
    const location = compileTarget(bearer);
    expect(location.insert(request, 'gr\u00fc\u00df \u0142')).toBe(true);
    expect(request.request.headers.get('authorization')).toBe(`Bearer ${octets}`);
    expect(location.read(request)).toBe('gr\u00fc\u00df \u0142');
    const other = carrier('/');
    expect(compileTarget(cookie('id')).insert(other, '\u0142')).toBe(true);
    expect(compileTarget(cookie('id')).read(other)).toBe('\u0142');
  });

  test('that is not UTF-8 is read byte for byte', () => {
    expect(compileTarget(bearer).read(carrier('/', [['authorization', 'Bearer \u00ff\u00fe']]))).toBe('\u00ff\u00fe');
  });
});

describe('a credential in the query', () => {
  test.each([
    ['/?key=abc', 'abc'],
    ['/?a=1&key=a%2Fb+c&key=second', 'a/b c'],
    ['/?k%65y=abc', 'abc'],
    ['/?key', ''],
    ['/?key=', ''],
    ['/?key=a=b', 'a=b'],
    ['/?key=%', '%'],
    ['/?key=%ff', '\ufffd'],
    ['/?keys=abc&ke=1&xkey=2', null],
    ['/?=key&&', null],
    ['/key=abc', null],
    ['*', null],
  ])('%p reads as %p', (target, expected) => {
    expect(compileTarget(parameter('key')).read(carrier(target))).toBe(expected);
  });

  test.each([
    ['/p?a=%7e&key=1&b=+%20&k%65y=2', '/p?a=%7e&b=+%20'],
    ['/p?key=1', '/p'],
    ['/p?a&&key&b', '/p?a&&b'],
    ['/p?a=1', '/p?a=1'],
    ['/p?', '/p?'],
  ])('is removed from %p, which becomes %p', (target, expected) => {
    const request = carrier(target);
    compileTarget(parameter('key')).remove(request);
    expect(request.request.target).toBe(expected);
  });

  test('has a name that needs encoding', () => {
    const location = compileTarget(parameter('a+b'));
    expect(location.read(carrier('/?a+b=no&a%2Bb=yes'))).toBe('yes');
    const request = carrier('/');
    location.insert(request, 'x&y');
    expect(request.request.target).toBe('/?a%2Bb=x%26y');
  });

  test('takes the place of the first when it is written, and the others go', () => {
    const request = carrier('/p?a=1&key=old&b=2&key=older');
    compileTarget(parameter('key')).insert(request, 'new value');
    expect(request.request.target).toBe('/p?a=1&key=new%20value&b=2');
  });

  const pairs = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme' })), { maxLength: 6 });

  test('is found as URLSearchParams finds it, whatever the query', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        const target = `/?${query.replaceAll('#', '')}`;
        const parameters = new URLSearchParams(target.slice(1));
        for (const [name, value] of parameters) {
          if (name === '') continue;
          expect(compileTarget(parameter(name)).read(carrier(target))).toBe(parameters.get(name));
          const request = carrier(target);
          compileTarget(parameter(name)).remove(request);
          const left = new URLSearchParams(request.request.target.slice(1));
          expect(left.has(name)).toBe(false);
          expect(left.size).toBe(parameters.size - parameters.getAll(name).length);
          expect(value).toEqual(expect.any(String));
        }
      }),
    );
  });

  test('comes back as it was written, and the other parameters with it', () => {
    fc.assert(
      fc.property(pairs, fc.string({ unit: 'binary' }), (others, value) => {
        const query = new URLSearchParams(others).toString();
        const request = carrier(query === '' ? '/p' : `/p?${query}`);
        const location = compileTarget(parameter('the key'));
        location.insert(request, value);
        expect(location.read(request)).toBe(value.toWellFormed());
        location.remove(request);
        const left = [...new URLSearchParams(request.request.target.slice(2))];
        expect(left).toEqual([...new URLSearchParams(query)].filter(([name]) => name !== 'the key'));
      }),
    );
  });
});

describe('a credential in a cookie', () => {
  test.each([
    ['id=abc', 'abc'],
    ['a=1; id = abc ; b=2', 'abc'],
    ['a=1;id=a=b', 'a=b'],
    ['id=first; id=second', 'first'],
    ['id=', ''],
    ['id', null],
    ['xid=1; idx=2; a=id=3', null],
    ['ID=abc', null],
    [';;;', null],
  ])('%p reads as %p', (value, expected) => {
    expect(compileTarget(cookie('id')).read(carrier('/', [['cookie', value]]))).toBe(expected);
  });

  test('is removed from every line, and the others are kept', () => {
    const request = carrier('/', [
      ['cookie', 'a=1; id=x'],
      ['x-other', 'kept'],
      ['cookie', 'id=y;b="2"'],
    ]);
    const location = compileTarget(cookie('id'));
    location.remove(request);
    expect(location.read(request)).toBeNull();
    expect([...request.request.headers]).toEqual([
      ['cookie', 'a=1; b="2"'],
      ['x-other', 'kept'],
    ]);
  });

  test('takes the header with it when it was the only one', () => {
    const request = carrier('/', [['cookie', ' id=x; ']]);
    compileTarget(cookie('id')).remove(request);
    expect(request.request.headers.has('cookie')).toBe(false);
  });

  test('leaves the bytes of the header alone when there is none of that name', () => {
    const request = carrier('/', [['cookie', 'a=1;  b=2;']]);
    compileTarget(cookie('id')).remove(request);
    expect(request.request.headers.get('cookie')).toBe('a=1;  b=2;');
  });

  test('replaces those of that name when it is written', () => {
    const request = carrier('/', [['cookie', 'id=old; a=1']]);
    expect(compileTarget(cookie('id')).insert(request, 'new')).toBe(true);
    expect(request.request.headers.getAll('cookie')).toEqual(['a=1; id=new']);
  });

  test.each(['a;b', 'a b', 'a\n', '\u0000'])('cannot hold %j', (value) => {
    const request = carrier('/');
    expect(compileTarget(cookie('id')).insert(request, value)).toBe(false);
    expect(request.request.headers.size).toBe(0);
  });

  test('comes back as it was written, between any others', () => {
    const text = fc.stringMatching(/^[!-+\--:<-~]*$/);
    const name = fc.stringMatching(/^[a-z0-9_]+$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text)), text, (others, value) => {
        const line = others.map(([other, held]) => `${other}=${held}`).join('; ');
        const request = carrier('/', line === '' ? [] : [['cookie', line]]);
        const location = compileTarget(cookie('the-id'));
        expect(location.insert(request, value)).toBe(true);
        expect(location.read(request)).toBe(value);
        location.remove(request);
        expect(request.request.headers.get('cookie') ?? '').toBe(line);
      }),
    );
  });
});
