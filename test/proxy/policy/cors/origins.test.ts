import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { originMatch } from '../../../../proxy/policy/cors/origins.ts';

describe('an origin', () => {
  test.each([
    ['*', 'https://a.test', true],
    ['*', 'null', true],
    ['*', 'moz-extension://abc', true],
    ['https://a.test', 'https://a.test', true],
    ['https://a.test', 'HTTPS://A.TEST', true],
    ['https://A.test', 'https://a.test', true],
    ['https://a.test', 'https://a.test:443', true],
    ['https://a.test:443', 'https://a.test', true],
    ['http://a.test:80', 'http://a.test', true],
    ['https://a.test', 'http://a.test', false],
    ['https://a.test', 'https://a.test:8443', false],
    ['http://a.test:3000', 'http://a.test:3000', true],
    ['http://a.test:3000', 'http://a.test', false],
    ['https://a.test', 'https://a.test/', false],
    ['https://a.test', 'https://a.test.evil.test', false],
    ['https://a.test', 'https://evil.test?https://a.test', false],
    ['https://a.test', 'null', false],
    ['https://*.a.test', 'https://b.a.test', true],
    ['https://*.a.test', 'https://c.b.A.test', true],
    ['https://*.a.test', 'https://a.test', false],
    ['https://*.a.test', 'https://xa.test', false],
    ['https://*.a.test', 'https://b.a.test:8443', false],
    ['https://*.a.test', 'http://b.a.test', false],
    ['https://*.a.test', 'https://evil.test/.a.test', false],
    ['https://*.a.test', 'https://evil.test@b.a.test', false],
    ['https://*.a.test', 'https://*.a.test', false],
    ['https://app-*-eu.*.test', 'https://app-7-eu.shop.test', true],
    ['https://app-*-eu.*.test', 'https://app-eu.shop.test', false],
    ['https://a*a.test', 'https://a.test', false],
    ['http://*:3000', 'http://localhost:3000', true],
    ['http://[::1]:3000', 'http://[::1]:3000', true],
    ['http://[::1]', 'http://[::1]:3000', false],
    ['chrome-extension://abcdef', 'chrome-extension://abcdef', true],
    ['chrome-extension://abcdef', 'chrome-extension://abcdeg', false],
  ])('%s allows %s: %p', (allowed, origin, expected) => {
    expect(originMatch([allowed])(origin)).toBe(expected);
  });

  test('is not allowed by an empty list', () => {
    expect(originMatch([])('https://a.test')).toBe(false);
  });

  test('fits a wildcard as it would fit a regular expression', () => {
    const pattern = fc.stringMatching(/^[ab.*]{1,8}$/);
    const host = fc.stringMatching(/^[ab.]{1,12}$/);
    fc.assert(
      fc.property(pattern, host, (wild, actual) => {
        const regex = new RegExp(`^${wild.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')}$`);
        expect(originMatch([`https://${wild}`])(`https://${actual}`)).toBe(wild === '*' || regex.test(actual));
      }),
    );
  });
});
