import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { changeTarget, replacePrefix } from '../../../proxy/policy/url-change.ts';

describe('replacePrefix', () => {
  test.each([
    ['/foo/bar', '/foo', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo', '/xyz/', '/xyz/bar'],
    ['/foo/bar', '/foo/', '/xyz', '/xyz/bar'],
    ['/foo/bar', '/foo/', '/xyz/', '/xyz/bar'],
    ['/foo', '/foo', '/xyz', '/xyz'],
    ['/foo/', '/foo', '/xyz', '/xyz/'],
    ['/foo/bar', '/foo', '', '/bar'],
    ['/foo/', '/foo', '', '/'],
    ['/foo', '/foo', '', '/'],
    ['/foo/', '/foo', '/', '/'],
    ['/foo', '/foo', '/', '/'],
    ['/foo', '/foo', 'xyz', '/xyz'],
    ['/foo/bar', '/foo', 'xyz', '/xyz/bar'],
    ['/a/b', '/', '/v2', '/v2/a/b'],
    ['/', '/', '/v2', '/v2/'],
    ['/foo//bar', '/foo', '/x', '/x//bar'],
    ['/a%2Fb/c', '/a%2Fb', '/x', '/x/c'],
  ])('of %s, %s by %s gives %s', (path, prefix, replacement, expected) => {
    expect(replacePrefix(path, prefix, replacement)).toBe(expected);
  });

  test.each([
    ['/foobar', '/foo'],
    ['/fo', '/foo'],
    ['/bar', '/foo'],
  ])('leaves %s alone, which does not begin with %s as segments', (path, prefix) => {
    expect(replacePrefix(path, prefix, '/x')).toBeNull();
  });

  test('always gives a path, and keeps the rest', () => {
    const segments = fc.array(fc.constantFrom('a', 'b', '', 'cc'), { maxLength: 4 });
    fc.assert(
      fc.property(segments, segments, segments, fc.boolean(), (prefix, rest, replacement, slash) => {
        const path = `/${prefix.join('/')}`;
        const full = rest.length === 0 ? path : `${path.replace(/\/+$/, '')}/${rest.join('/')}`;
        const changed = replacePrefix(
          full,
          slash ? `${path}/` : path,
          replacement.length === 0 ? '' : `/${replacement.join('/')}`,
        );
        expect(changed).toMatch(/^\//);
        expect(changed?.endsWith(rest.length === 0 ? '' : `/${rest.join('/')}`)).toBe(true);
      }),
    );
  });
});

describe('changeTarget', () => {
  const prefix = { kind: 'pathPrefix', value: '/a' } as const;

  test('keeps the query', () => {
    expect(changeTarget({ kind: 'full', value: '/x' }, '/a/b?q=/a', prefix)).toBe('/x?q=/a');
    expect(changeTarget({ kind: 'prefix', value: '/x' }, '/a/b?q=/a', prefix)).toBe('/x/b?q=/a');
  });

  test('takes the query that a full replacement brings', () => {
    expect(changeTarget({ kind: 'full', value: '/x?y=1' }, '/a?q=1', prefix)).toBe('/x?y=1');
  });

  test('needs a prefix match to replace a prefix', () => {
    expect(changeTarget({ kind: 'prefix', value: '/x' }, '/a', { kind: 'exact', value: '/a' })).toBeNull();
    expect(changeTarget({ kind: 'prefix', value: '/x' }, '/a', null)).toBeNull();
  });

  test('leaves what is no path', () => {
    expect(changeTarget({ kind: 'full', value: '/x' }, '*', prefix)).toBe('*');
    expect(changeTarget({ kind: 'prefix', value: '/x' }, '', prefix)).toBe('');
  });
});
