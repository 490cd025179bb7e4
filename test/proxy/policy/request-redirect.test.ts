import { describe, expect, test } from '@jest/globals';

import { requestRedirect } from '../../../proxy/policy/request-redirect/compile.ts';
import type { RequestRedirect } from '../../../src/config/ir/index.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context } from './build.ts';

interface Case {
  spec: Omit<RequestRedirect, 'status'>;
  from?: { authority?: string; target?: string; scheme?: 'http' | 'https' };
  location: string;
}

function locationOf({ spec, from }: Omit<Case, 'location'>): string | undefined {
  const exchange = untraced({ authority: 'shop.test:8080', target: '/old/cart?x=1', ...from });
  exchange.matchedPath = { kind: 'pathPrefix', value: '/old' };
  const outcome = requestRedirect({ status: 302, ...spec }, context())(exchange);
  if (!('kind' in outcome) || outcome.kind !== 'respond') throw new Error('no answer');
  return outcome.response.headers.get('location');
}

describe('requestRedirect', () => {
  test.each<[string, Case]>([
    ['nothing configured', { spec: {}, location: 'http://shop.test:8080/old/cart?x=1' }],
    ['a scheme, which brings its port', { spec: { scheme: 'https' }, location: 'https://shop.test/old/cart?x=1' }],
    [
      'a host, keeping the port',
      { spec: { authority: { kind: 'host', value: 'b.test' } }, location: 'http://b.test:8080/old/cart?x=1' },
    ],
    [
      'a host and a scheme',
      {
        spec: { scheme: 'https', authority: { kind: 'host', value: 'b.test' } },
        location: 'https://b.test/old/cart?x=1',
      },
    ],
    [
      'a host, without a default port',
      {
        spec: { authority: { kind: 'host', value: 'b.test' } },
        from: { authority: 'shop.test:80' },
        location: 'http://b.test/old/cart?x=1',
      },
    ],
    ['a port', { spec: { authority: { kind: 'port', value: 9000 } }, location: 'http://shop.test:9000/old/cart?x=1' }],
    [
      'the default port of the new scheme',
      {
        spec: { scheme: 'https', authority: { kind: 'port', value: 443 } },
        location: 'https://shop.test/old/cart?x=1',
      },
    ],
    [
      'a full authority',
      { spec: { authority: { kind: 'full', value: 'b.test:1' } }, location: 'http://b.test:1/old/cart?x=1' },
    ],
    [
      'no change of authority, whatever the scheme',
      { spec: { scheme: 'https', authority: { kind: 'none' } }, location: 'https://shop.test:8080/old/cart?x=1' },
    ],
    ['a full path', { spec: { path: { kind: 'full', value: '/new' } }, location: 'http://shop.test:8080/new?x=1' }],
    [
      'a prefix',
      { spec: { path: { kind: 'prefix', value: '/new/' } }, location: 'http://shop.test:8080/new/cart?x=1' },
    ],
    [
      'an IPv6 host',
      { spec: { scheme: 'https' }, from: { authority: '[::1]:8080' }, location: 'https://[::1]/old/cart?x=1' },
    ],
    ['OPTIONS *', { spec: { scheme: 'https' }, from: { target: '*' }, location: 'https://shop.test/' }],
  ])('with %s', (_what, { location, ...rest }) => {
    expect(locationOf(rest)).toBe(location);
  });

  test('fails when a prefix is to be replaced and none has matched', () => {
    const exchange = untraced({ target: '/old' });
    exchange.matchedPath = { kind: 'exact', value: '/old' };
    const step = requestRedirect({ status: 301, path: { kind: 'prefix', value: '/new' } }, context());
    expect(step(exchange)).toMatchObject({
      kind: 'fail',
      refusal: { status: 500, message: expect.stringMatching(/^failed to apply filters/) },
    });
  });

  test('tells what it did and who said so, without the query', () => {
    const { exchange, policies } = traced({ target: '/a?token=secret' });
    const outcome = requestRedirect({ status: 308, scheme: 'https' }, context())(exchange);
    expect(outcome).toMatchObject({
      kind: 'respond',
      policy: 'requestRedirect',
      response: { status: 308, body: { length: 0 } },
    });
    expect(policies).toEqual(['request_redirect: 308 to https://shop.test/a (from route default/r1)']);
  });

  test('refuses a status that is no redirect at load', () => {
    expect(() => requestRedirect({ status: 200 }, context())).toThrow(/requestRedirect from route default\/r1: 200/);
  });
});
