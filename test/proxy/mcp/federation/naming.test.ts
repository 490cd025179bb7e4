import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Naming } from '../../../../proxy/mcp/federation/naming.ts';

const many = new Naming(['alpha', 'beta'], 'conditional');
const one = new Naming(['alpha'], 'conditional');

describe('names', () => {
  test('carry their target, which ends at the first underscore', () => {
    expect(many.nameOut(1, 'get_it')).toBe('beta_get_it');
    expect(many.nameIn('beta_get_it')).toEqual({ target: 1, name: 'get_it' });
  });

  test.each(['getit', '_getit', 'gamma_x', '', 'beta'])('without a target are nobody’s: %p', (name) => {
    expect(many.nameIn(name)).toBeNull();
  });

  test.each([
    ['conditional', 1, false, false],
    ['never', 1, false, false],
    ['always', 1, true, true],
    ['conditional', 2, true, true],
    ['always', 2, true, true],
    ['never', 2, false, true],
  ] as const)('with %s and %d targets', (mode, count, names, addresses) => {
    const naming = new Naming(['a', 'b'].slice(0, count), mode);
    expect(naming.nameOut(0, 'x')).toBe(names ? 'a_x' : 'x');
    expect(naming.uriOut(0, 'memo:x')).toBe(addresses ? 'a+memo:x' : 'memo:x');
    expect(naming.taskOut(0, '1')).toBe(addresses ? 'a+1' : '1');
  });
});

describe('addresses', () => {
  test.each([
    ['file:///a+b', 'beta+file:///a+b'],
    ['memo:x', 'beta+memo:x'],
    ['git+ssh://x', 'beta+git+ssh://x'],
    ['file:///{path}', 'beta+file:///{path}'],
    ['ui://form/a?b#c', 'ui://beta+form/a?b#c'],
    ['UI://form', 'UI://beta+form'],
  ])('%s becomes %s, and again what it was', (own, client) => {
    expect(many.uriOut(1, own)).toBe(client);
    expect(many.uriIn(client)).toEqual({ target: 1, name: own });
  });

  test('without a scheme stay as they are', () => {
    expect(many.uriOut(1, 'readme.md')).toBe('readme.md');
    expect(many.uriOut(1, '{scheme}://x')).toBe('{scheme}://x');
  });

  test.each(['beta+ui://x', 'ui://x/beta+y', 'ui://form', 'file:///x', 'beta+readme', 'gamma+file:///x', '+file:///x'])(
    'that no target has are nobody’s: %s',
    (uri) => {
      expect(many.uriIn(uri)).toBeNull();
    },
  );

  test('of a single target pass unchanged', () => {
    expect(one.uriIn('beta+ui://x')).toEqual({ target: 0, name: 'beta+ui://x' });
  });

  test('come back from whatever they were', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.nat(1), (uri, target) => {
        expect(many.uriIn(many.uriOut(target, uri))).toEqual({ target, name: uri });
      }),
    );
  });

  test('names and ids come back whatever they are', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1), (name, target) => {
        expect(many.nameIn(many.nameOut(target, name))).toEqual({ target, name });
        expect(many.taskIn(many.taskOut(target, name))).toEqual({ target, name });
      }),
    );
  });
});
