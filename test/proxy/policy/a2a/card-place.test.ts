import { describe, expect, test } from '@jest/globals';

import { anchored, callPlaceOf, type CardPlace, cardPlaceOf } from '../../../../proxy/policy/a2a/card-place.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { untraced } from '../../exchange/build.ts';

const CARD = '/.well-known/agent-card.json';

/** A request as it came, and as policies left it. */
function asked(from: string, to: string, more: { prefix?: string; proto?: string; method?: string } = {}) {
  const headers = Headers.from(more.proto === undefined ? [] : [['x-forwarded-proto', more.proto]]);
  const exchange = untraced({ method: more.method ?? 'GET', target: from, authority: 'g.example:8080', headers });
  exchange.request.target = to;
  if (more.prefix !== undefined) exchange.matchedPath = { kind: 'pathPrefix', value: more.prefix };
  return exchange;
}

function place(...request: Parameters<typeof asked>): CardPlace {
  const found = cardPlaceOf(asked(...request));
  if (found === null) throw new Error('no card is asked for');
  return found;
}

describe('an address of an agent', () => {
  const whole = place(CARD, CARD, { prefix: '/' });
  const below = place(`/a/weather${CARD}`, `/a/weather${CARD}`, { prefix: '/a' });
  const moved = place(`/w${CARD}`, `/agents/weather${CARD}`, { prefix: '/w' });
  const shorter = place(`/x/weather${CARD}?v=1`, `/agents/weather${CARD}?v=1`, { prefix: '/x/' });
  const replaced = place('/card', `/agents/weather${CARD}`, { prefix: '/card' });
  const coded = place(`/c${CARD}`, `/r%3Aa%2Db%C3%A9${CARD}`, { prefix: '/c' });
  const cases: readonly (readonly [string, CardPlace, string, string | null])[] = [
    ['at the root', whole, 'http://in:1', 'http://g.example:8080'],
    ['at the root, with a slash', whole, 'http://in:1/', 'http://g.example:8080/'],
    ['with a path', whole, 'https://in/rpc?a=b#c', 'http://g.example:8080/rpc?a=b#c'],
    ['below its own path', below, 'http://in/a/weather/rpc', 'http://g.example:8080/a/weather/rpc'],
    [
      'beside its own path, though it begins like it',
      below,
      'http://in/a/weather-v2/rpc',
      'http://g.example:8080/a/weather/a/weather-v2/rpc',
    ],
    ['that knows nothing of where it stands', below, 'http://in/', 'http://g.example:8080/a/weather/'],
    ['where the prefix is another', moved, 'http://in/agents/weather/rpc', 'http://g.example:8080/w/rpc'],
    ['where the prefix is another, at its root', moved, 'http://in/agents/weather', 'http://g.example:8080/w'],
    [
      'beside the one, below the same prefix',
      shorter,
      'http://in/agents/other/rpc',
      'http://g.example:8080/x/other/rpc',
    ],
    ['whose card stands elsewhere', replaced, 'http://in/agents/weather/rpc', 'http://g.example:8080/rpc'],
    ['that is encoded less', coded, 'http://in/r%3Aa-b%C3%A9/rpc/%2D', 'http://g.example:8080/c/rpc/%2D'],
    ['that is encoded in small letters', coded, 'http://in/r%3aa%2db%c3%a9', 'http://g.example:8080/c'],
    ['that is another when decoded', coded, 'http://in/r:a-b%C3%A9/rpc', 'http://g.example:8080/c/r:a-b%C3%A9/rpc'],
    ['of no HTTP', whole, 'grpc://in:1', null],
    ['that a browser would run', whole, 'javascript:alert(1)', null],
    ['that is none', whole, 'http://', null],
    ['without a host', whole, '/rpc', null],
  ];
  test.each(cases)('%s', (_, at, url, expected) => {
    expect(anchored(url, at)).toBe(expected);
  });

  test.each([
    ['https', 'https:'],
    ['HTTPS, http', 'https:'],
    ['javascript', 'http:'],
    ['', 'http:'],
  ])('has the scheme of X-Forwarded-Proto %j when that is one of HTTP', (proto, scheme) => {
    expect(place(CARD, CARD, { proto }).origin).toBe(`${scheme}//g.example:8080`);
  });
});

describe('a card', () => {
  test.each([
    ['POST', CARD],
    ['GET', '/agent.json'],
    ['GET', '/.well-known/agent-card.json/x'],
    ['GET', '/x.well-known/agent.json'],
  ])('is not asked for by %s %s', (method, target) => {
    expect(cardPlaceOf(asked(target, target, { method }))).toBeNull();
  });

  test('of a call stands where both paths begin to differ', () => {
    expect(callPlaceOf(asked('/shop/rpc', '/agents/shop/rpc'))).toMatchObject({ publicPath: '', agentPath: '/agents' });
    expect(callPlaceOf(asked('/a/rpc?x', '/b/c/rpc'))).toMatchObject({ publicPath: '/a', agentPath: '/b/c' });
    expect(callPlaceOf(asked('/shop/', '/runtimes/r/invocations'))).toMatchObject({
      publicPath: '/shop',
      agentPath: '/runtimes/r/invocations',
    });
  });
});
