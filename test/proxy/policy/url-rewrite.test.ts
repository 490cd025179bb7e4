import { describe, expect, test } from '@jest/globals';

import { hostRewriteOf, urlRewrite } from '../../../proxy/policy/url-rewrite/compile.ts';
import type { UrlRewrite } from '../../../src/config/ir/index.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context } from './build.ts';

function rewritten(spec: UrlRewrite): [authority: string, target: string] {
  const { exchange } = traced({ authority: 'shop.test:8080', target: '/old/cart?x=1' });
  exchange.matchedPath = { kind: 'pathPrefix', value: '/old' };
  expect(urlRewrite(spec, context())(exchange)).toEqual({ kind: 'next' });
  return [exchange.request.authority, exchange.request.target];
}

describe('urlRewrite', () => {
  test.each<[UrlRewrite, string, string]>([
    [{ authority: { kind: 'full', value: 'b.test:9' } }, 'b.test:9', '/old/cart?x=1'],
    [{ authority: { kind: 'host', value: 'b.test' } }, 'b.test', '/old/cart?x=1'],
    [{ authority: { kind: 'port', value: 9 } }, 'shop.test:9', '/old/cart?x=1'],
    [{ authority: { kind: 'auto' } }, 'shop.test:8080', '/old/cart?x=1'],
    [{ authority: { kind: 'none' } }, 'shop.test:8080', '/old/cart?x=1'],
    [{ path: { kind: 'full', value: '/new' } }, 'shop.test:8080', '/new?x=1'],
    [{ path: { kind: 'prefix', value: '/' } }, 'shop.test:8080', '/cart?x=1'],
    [{ authority: { kind: 'host', value: 'b.test' }, path: { kind: 'prefix', value: '/n' } }, 'b.test', '/n/cart?x=1'],
  ])('%j gives %s %s', (spec, authority, target) => {
    expect(rewritten(spec)).toEqual([authority, target]);
  });

  test('fails when a prefix is to be replaced and none has matched', () => {
    const exchange = untraced({ target: '/old' });
    expect(urlRewrite({ path: { kind: 'prefix', value: '/n' } }, context())(exchange)).toMatchObject({
      kind: 'fail',
      refusal: { status: 500 },
    });
  });

  test('tells what changed, without the query', () => {
    const { exchange, policies } = traced({ target: '/a?token=secret' });
    urlRewrite(
      { authority: { kind: 'host', value: 'b.test' }, path: { kind: 'full', value: '/b' } },
      context(),
    )(exchange);
    expect(policies).toEqual(['url_rewrite: authority shop.test → b.test, path /a → /b (from route default/r1)']);
  });

  test('says how the authority is to become that of the backend', () => {
    expect(hostRewriteOf(undefined)).toBe('default');
    expect(hostRewriteOf({})).toBe('default');
    expect(hostRewriteOf({ authority: { kind: 'auto' } })).toBe('auto');
    expect(hostRewriteOf({ authority: { kind: 'none' } })).toBe('off');
    expect(hostRewriteOf({ authority: { kind: 'host', value: 'b' } })).toBe('off');
  });
});
