import { describe, expect, test } from '@jest/globals';

import { chooseListener, hostOf, type ListenerChoice, placementOf } from '../../../proxy/listener/choose.ts';

type Kind = ListenerChoice['protocol']['kind'];
const of = (hostname: string, kind: Kind = 'HTTP'): ListenerChoice => ({ hostname, protocol: { kind } });

describe('chooseListener', () => {
  const cases: readonly [host: string | null, hostnames: readonly string[], chosen: string | undefined][] = [
    ['a.test', ['', '*', '*.test', 'a.test'], 'a.test'],
    ['b.test', ['', '*', '*.test', 'a.test'], '*.test'],
    ['x.y.test', ['*.test', '*.y.test'], '*.y.test'],
    ['x.y.test', ['*.y.test', '*.test'], '*.y.test'],
    ['test', ['*.test', ''], ''],
    ['other', ['*.test', '*', ''], '*'],
    ['other', ['*.test', 'a.test'], undefined],
    ['a.test', ['A.Test'], 'A.Test'],
    ['xtest', ['*.test'], undefined],
    [null, ['a.test', ''], ''],
    [null, ['a.test', '*'], '*'],
    [null, ['a.test'], undefined],
    ['a.test', [], undefined],
  ];
  test.each(cases)('for host %s among %j it is %s', (host, hostnames, chosen) => {
    expect(
      chooseListener(
        hostnames.map((name) => of(name)),
        host,
        'http',
      )?.hostname,
    ).toBe(chosen);
  });

  test('the first in file order wins among equals', () => {
    const first = of('*.test');
    expect(chooseListener([first, of('*.test')], 'a.test', 'http')).toBe(first);
  });

  test('only listeners of the family compete', () => {
    const listeners = [of('a.test', 'HTTP'), of('', 'HTTPS'), of('', 'TCP')];
    expect(chooseListener(listeners, 'a.test', 'tls')).toBe(listeners[1]);
    expect(chooseListener(listeners, 'a.test', 'tcp')).toBe(listeners[2]);
    expect(chooseListener([of('', 'HTTP')], 'a.test', 'tls')).toBeUndefined();
  });
});

describe('placementOf', () => {
  const a = of('a.test', 'HTTPS');
  const wild = of('*.test', 'HTTPS');
  const pass = of('p.test', 'TLS');
  const plain = of('b.test', 'HTTP');

  test.each([
    [[a, wild], a, 'a.test', 'ok'],
    [[a, wild], wild, 'a.test', 'misdirected'],
    [[a, wild], a, 'b.test', 'misdirected'],
    [[a, wild], a, 'elsewhere', 'notFound'],
    [[a, pass], a, 'p.test', 'misdirected'],
    [[wild, plain], wild, 'b.test', 'ok'],
    [[of('', 'HTTPS')], a, 'x', 'misdirected'],
  ] as const)('case %#', (listeners, current, host, expected) => {
    expect(placementOf(listeners, current, host)).toBe(expected);
  });
});

test.each([
  ['Example.COM:8443', 'example.com'],
  ['example.com.', 'example.com'],
  ['[::1]:80', '[::1]'],
  ['', ''],
])('hostOf(%s) is %s', (authority, host) => {
  expect(hostOf(authority)).toBe(host);
});
