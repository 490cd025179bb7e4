import { beforeAll, describe, expect, test } from '@jest/globals';

import { Headers } from '../../../proxy/exchange/headers.ts';
import { jwtAuth } from '../../../proxy/policy/jwt-auth/compile.ts';
import { keyOf } from '../../../proxy/resources/content.ts';
import { ThreadResources } from '../../../proxy/resources/thread-resources.ts';
import type { JwtAuth, RemoteKeySet } from '../../../src/config/ir/index.ts';
import { ManualClock, traced } from '../exchange/build.ts';
import { forged, ISSUER, provider, type Signer, signer, token } from '../jwt/tokens.ts';
import { context, deps } from './build.ts';

let key: Signer;
let good: string;

beforeAll(async () => {
  key = await signer('k1');
  good = await token(key);
});

function policy(changes: Partial<JwtAuth> = {}): JwtAuth {
  const location = { kind: 'header', name: 'authorization', prefix: 'Bearer ' } as const;
  return { mode: 'strict', location, preserveToken: false, providers: [provider([key])], ...changes };
}

function bearing(...values: string[]) {
  return traced({ headers: Headers.from([...values.map((value) => ['authorization', value] as const), ['x-a', '1']]) });
}

const unauthorized = (detail: string) => ({
  kind: 'fail',
  refusal: { status: 401, reason: 'JwtAuth', message: `authentication failure: ${detail}` },
});

describe('jwtAuth', () => {
  test('leaves the claims on the exchange and takes every value of the header away', () => {
    const { exchange, policies } = bearing(`bEaReR ${good}`, 'Bearer other');
    expect(jwtAuth(policy(), context())(exchange)).toEqual({ kind: 'next' });
    expect(exchange.attributes.jwt?.claims['sub']).toBe('alice');
    expect([...exchange.request.headers]).toEqual([['x-a', '1']]);
    expect(policies[0]).toMatch(/^jwt: accepted, claims \{.*"sub":"alice".*\} \(from route default\/r1\)$/);
    expect(policies[0]).not.toContain(good);
  });

  test('leaves the token in the request when it is told to, and no other beside it', () => {
    const { exchange } = bearing(`Bearer ${good}`, 'Bearer other');
    jwtAuth(policy({ preserveToken: true }), context())(exchange);
    expect(exchange.request.headers.getAll('authorization')).toEqual([`Bearer ${good}`]);
  });

  test.each([
    [
      'query parameter',
      { kind: 'queryParameter', name: 'token' },
      (text: string) => ({ target: `/a?x=1&token=${text}&y=2` }),
      '/a?x=1&y=2',
      undefined,
    ],
    [
      'cookie',
      { kind: 'cookie', name: 'session' },
      (text: string) => ({ headers: Headers.from([['cookie', `a=1; session=${text}`]]) }),
      '/',
      'a=1',
    ],
  ] as const)('reads and removes a %s', (_what, location, parts, target, cookie) => {
    const { exchange } = traced(parts(good));
    expect(jwtAuth(policy({ location }), context())(exchange)).toEqual({ kind: 'next' });
    expect(exchange.attributes.jwt).not.toBeNull();
    expect(exchange.request.target).toBe(target);
    expect(exchange.request.headers.get('cookie')).toBe(cookie);
  });

  test('strict needs a token', () => {
    for (const { exchange, policies } of [bearing(), bearing('Basic YTpi'), bearing(good)]) {
      expect(jwtAuth(policy(), context())(exchange)).toEqual(unauthorized('no bearer token found'));
      expect(policies).toEqual(['jwt: token missing (from route default/r1)']);
    }
  });

  test('optional passes without a token, not with a bad one', () => {
    const step = jwtAuth(policy({ mode: 'optional' }), context());
    const without = bearing();
    expect(step(without.exchange)).toEqual({ kind: 'next' });
    expect(without.policies).toEqual(['jwt: no token (from route default/r1)']);
    expect(step(bearing('Bearer x').exchange)).toEqual(
      unauthorized('the token header is malformed: not a JSON Web Token'),
    );
    expect(step(bearing('Bearer ').exchange)).toMatchObject({ kind: 'fail' });
  });

  test('permissive passes everything, and leaves a bad token where it is', () => {
    const step = jwtAuth(policy({ mode: 'permissive' }), context());
    const bad = bearing('Bearer x');
    expect(step(bad.exchange)).toEqual({ kind: 'next' });
    expect(bad.exchange.attributes.jwt).toBeNull();
    expect(bad.exchange.request.headers.get('authorization')).toBe('Bearer x');
    expect(bad.policies[0]).toContain('not a JSON Web Token');
    const fine = bearing(`Bearer ${good}`);
    step(fine.exchange);
    expect(fine.exchange.request.headers.has('authorization')).toBe(false);
  });
});

describe('a token that names an unknown key', () => {
  const remote: RemoteKeySet = { kind: 'remote', content: 'keySet', url: 'https://issuer.test/keys' };

  function waiting() {
    const answer = Promise.withResolvers<void>();
    const resources = new ThreadResources(() => answer.promise);
    const clock = new ManualClock();
    const own = { ...deps(), resources, clock };
    const step = jwtAuth(policy({ providers: [provider([], { keys: remote })] }), context(own));
    const arrive = (): void => {
      const text = JSON.stringify({ keys: [key.jwk] });
      resources.update([{ key: keyOf(remote), document: remote, text, version: 1 }]);
      answer.resolve();
    };
    return { step, clock, arrive, answer };
  }

  test('waits for a fetch of the key set and is checked again', async () => {
    const { step, arrive } = waiting();
    const { exchange } = bearing(`Bearer ${good}`);
    const outcome = step(exchange);
    expect(outcome).toBeInstanceOf(Promise);
    arrive();
    await expect(outcome).resolves.toEqual({ kind: 'next' });
    expect(exchange.attributes.jwt?.claims['sub']).toBe('alice');
    // From now on nothing waits.
    expect(step(bearing(`Bearer ${good}`).exchange)).toEqual({ kind: 'next' });
  });

  test('is refused when the new key set does not know it either', async () => {
    const { step, answer } = waiting();
    const outcome = step(bearing(`Bearer ${good}`).exchange);
    answer.reject(new Error('down'));
    await expect(outcome).resolves.toEqual(unauthorized('token uses the unknown key "k1"'));
  });

  test('does not wait beyond the deadline of its request, nor for a client that has left', async () => {
    const late = waiting();
    const one = bearing(`Bearer ${good}`).exchange;
    one.deadlineAt = late.clock.now() + 100;
    const outcome = late.step(one);
    late.clock.advance(100);
    await expect(outcome).resolves.toMatchObject({ refusal: { status: 504 } });
    const two = bearing(`Bearer ${good}`).exchange;
    const gone = late.step(two);
    two.clientLeft();
    await expect(gone).resolves.toMatchObject({ refusal: { message: 'client went away' } });
    expect(late.clock.pending).toBe(0);
  });

  test('of another issuer is refused at once', () => {
    const { step } = waiting();
    const other = forged({ alg: 'ES256', kid: 'k2' }, { iss: `${ISSUER}/` });
    expect(step(bearing(`Bearer ${other}`).exchange)).toEqual(unauthorized('token uses the unknown key "k2"'));
  });
});
