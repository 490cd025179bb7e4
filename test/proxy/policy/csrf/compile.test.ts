import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpRequest } from '../../../../proxy/exchange/message.ts';
import { csrf } from '../../../../proxy/policy/csrf/compile.ts';
import { traced } from '../../exchange/build.ts';
import { context } from '../build.ts';

const step = csrf({ additionalOrigins: ['https://partner.test', 'null'] }, context());

function run(headers: Record<string, string>, parts: Partial<HttpRequest> = {}) {
  const { exchange, policies } = traced({ method: 'POST', headers: Headers.from(Object.entries(headers)), ...parts });
  const outcome = step(exchange);
  if (outcome instanceof Promise) throw new Error('CSRF never waits');
  return { passes: outcome.kind === 'next', outcome, policies };
}

describe('a state-changing request', () => {
  test.each([
    ['without both headers', {}, true],
    ['from the own page', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.test' }, true],
    ['from the address bar', { 'sec-fetch-site': 'none' }, true],
    ['from the same site', { 'sec-fetch-site': 'same-site', origin: 'http://shop.test' }, false],
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'http://shop.test' }, false],
    ['from another site without an origin', { 'sec-fetch-site': 'cross-site' }, false],
    ['from a listed origin of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://partner.test' }, true],
    ['with a site that no browser sends', { 'sec-fetch-site': 'Same-Origin' }, false],
    ['with an empty site', { 'sec-fetch-site': '' }, false],
    ['from an opaque origin', { origin: 'null' }, true],
    ['from its own origin', { origin: 'http://shop.test' }, true],
    ['from its own origin in capitals', { origin: 'HTTP://SHOP.test' }, true],
    ['from the other scheme', { origin: 'https://shop.test' }, false],
    ['from another port', { origin: 'http://shop.test:8080' }, false],
    ['from another host', { origin: 'http://evil.test' }, false],
    ['from a host that begins alike', { origin: 'http://shop.test.evil.test' }, false],
    ['from a listed origin', { origin: 'https://partner.test' }, true],
    ['from a listed origin in capitals', { origin: 'https://PARTNER.test' }, false],
    ['with an empty origin', { origin: '' }, false],
    ['with a site beyond ASCII', { 'sec-fetch-site': 'same-origin\u00e9', origin: 'https://partner.test' }, false],
    ['with an origin beyond ASCII', { origin: 'http://sh\u00f6p.test' }, false],
    ['with an origin of 100 kB', { origin: `http://shop.test${'a'.repeat(100_000)}` }, false],
  ])('%s: %p', (_what, headers, expected) => {
    expect(run(headers as Record<string, string>).passes).toBe(expected);
  });

  test('is compared without the port of its scheme', () => {
    expect(run({ origin: 'http://shop.test' }, { authority: 'SHOP.test:80' }).passes).toBe(true);
    expect(run({ origin: 'https://shop.test' }, { authority: 'shop.test:443', scheme: 'https' }).passes).toBe(true);
    expect(run({ origin: 'http://shop.test:81' }, { authority: 'shop.test:81' }).passes).toBe(true);
    expect(run({ origin: 'http://shop.test' }, { authority: 'shop.test:443' }).passes).toBe(false);
  });

  test('is compared with listed origins as browsers write them', () => {
    const listing = csrf({ additionalOrigins: ['HTTPS://Partner.Test:443'] }, context());
    const { exchange } = traced({ method: 'POST', headers: Headers.from([['origin', 'https://partner.test']]) });
    expect(listing(exchange)).toMatchObject({ kind: 'next' });
  });

  test('that is refused says so', () => {
    const { outcome, policies } = run({ origin: 'http://evil.test' });
    expect(outcome).toEqual({
      kind: 'fail',
      refusal: { status: 403, reason: 'Authorization', message: 'CSRF validation failed' },
    });
    expect(policies).toEqual(['csrf: the origin is not that of the request (from route default/r1)']);
  });
});

test.each(['GET', 'HEAD', 'OPTIONS'])('%s passes from anywhere', (method) => {
  const { passes, policies } = run({ 'sec-fetch-site': 'cross-site', origin: 'http://evil.test' }, { method });
  expect(passes).toBe(true);
  expect(policies).toEqual([`csrf: ${method} changes nothing`]);
});

test.each(['PUT', 'PATCH', 'DELETE', 'TRACE', 'get'])('%s does not', (method) => {
  expect(run({ origin: 'http://evil.test' }, { method }).passes).toBe(false);
});
