import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { basicAuth } from '../../../../proxy/policy/basic-auth/compile.ts';
import type { BasicAuth } from '../../../../src/config/ir/index.ts';
import { parseHtpasswd } from '../../../../src/config/normalize/policy/htpasswd.ts';
import { traced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';

const { users } = parseHtpasswd(
  [
    'ann:$apr1$RVuXe5ck$a7dMb7Dig1KVt0lLMchKN1',
    'bob:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
    'eve:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW',
  ].join('\n'),
);

const authorization = { kind: 'header', name: 'authorization', prefix: 'Basic ' } as const;

function policy(own: Partial<BasicAuth> = {}) {
  const shared = deps();
  const step = basicAuth(
    { mode: 'strict', realm: 'Restricted', location: authorization, users, ...own },
    context(shared),
  );
  return async (header?: string, name = 'authorization') => {
    const request = traced({ headers: Headers.from(header === undefined ? [] : [[name, header]]) });
    const { exchange, policies, messages } = request;
    const pending = step(exchange);
    const waited = pending instanceof Promise;
    const outcome = await pending;
    const refusal = outcome.kind === 'fail' ? outcome.refusal : null;
    return {
      waited,
      says: refusal?.message ?? outcome.kind,
      status: refusal?.status ?? 0,
      challenge: Object.fromEntries(refusal?.headers ?? []),
      exchange,
      policies,
      messages,
    };
  };
}

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const MISSING = 'basic authentication failure: no basic authentication credentials found';
const INVALID = 'basic authentication failure: invalid credentials';

describe('a login', () => {
  test.each(['ann', 'bob', 'eve'])('of %s with the password lets in, and goes no further', async (user) => {
    const { says, exchange, policies } = await policy()(basic(`${user}:secret`));
    expect(says).toBe('next');
    expect(exchange.attributes.basicAuth).toEqual({ username: user });
    expect(exchange.request.headers.has('authorization')).toBe(false);
    expect(policies).toEqual([`basic_auth: "${user}" has logged in (from route default/r1)`]);
  });

  test.each([
    ['a wrong password', basic('ann:Secret')],
    ['no password', basic('ann:')],
    ['a user that nobody knows', basic('zoe:secret')],
    ['no user', basic(':secret')],
    ['neither', basic(':')],
    ['no colon', basic('ann')],
    ['a NUL', basic('ann:secret\u0000')],
    ['no base64', 'Basic ann:secret'],
    ['nothing', 'Basic '],
    ['100 kB', basic(`ann:${'x'.repeat(100_000)}`)],
  ])('with %s is refused, and stays in the request', async (_what, header) => {
    for (const mode of ['strict', 'optional'] as const) {
      const answer = await policy({ mode })(header);
      expect(answer).toMatchObject({
        says: INVALID,
        status: 401,
        challenge: { 'www-authenticate': 'Basic realm="Restricted"' },
        policies: ['basic_auth: name or password are wrong (from route default/r1)'],
      });
      expect(answer.exchange.attributes.basicAuth).toBeNull();
      expect(answer.exchange.request.headers.has('authorization')).toBe(true);
    }
  });

  test.each([undefined, 'Bearer abc', 'Basic'])('is missing in %j', async (header) => {
    expect(await policy()(header)).toMatchObject({ says: MISSING, status: 401 });
    expect((await policy({ mode: 'optional' })(header)).says).toBe('next');
  });

  test('is waited for once, and remembered with its verdict', async () => {
    const login = policy();
    expect(await login(basic('ann:secret'))).toMatchObject({ waited: true, says: 'next' });
    expect(await login(basic('ann:secret'))).toMatchObject({ waited: false, says: 'next' });
    expect(await login(basic('ann:wrong'))).toMatchObject({ waited: true, says: INVALID });
    expect(await login(basic('ann:wrong'))).toMatchObject({ waited: false, says: INVALID });
  });

  test('of a user that nobody knows takes the way of one that exists', async () => {
    const login = policy();
    expect((await login(basic('zoe:secret'))).waited).toBe(true);
    expect((await login(basic('ann:secret'))).says).toBe('next');
    expect((await login(basic('zoe:secret'))).says).toBe(INVALID);
  });

  test('is impossible without users', async () => {
    expect(await policy({ users: [] })(basic('ann:secret'))).toMatchObject({ waited: false, says: INVALID });
  });

  test('at a proxy has a challenge and a status of its own', async () => {
    const location = { kind: 'header', name: 'proxy-authorization', prefix: 'Basic ' } as const;
    const login = policy({ location, realm: 'the "inner" \\ site' });
    expect(await login()).toMatchObject({
      says: MISSING,
      status: 407,
      challenge: { 'proxy-authenticate': String.raw`Basic realm="the \"inner\" \\ site"` },
    });
    expect((await login(basic('bob:secret'), 'proxy-authorization')).says).toBe('next');
  });

  test('leaves no password in a trace', async () => {
    const login = policy();
    for (const header of [basic('ann:secret'), basic('ann:secret2')]) {
      const { messages } = await login(header);
      expect(JSON.stringify(messages)).not.toMatch(/secret/);
    }
  });

  test('ends with its client, without a verdict', async () => {
    const shared = deps();
    const step = basicAuth({ mode: 'strict', realm: 'r', location: authorization, users }, context(shared));
    const { exchange } = traced({ headers: Headers.from([['authorization', basic('eve:secret')]]) });
    const pending = step(exchange);
    exchange.clientLeft();
    expect(await pending).toMatchObject({ kind: 'fail', refusal: { status: 499 } });
    expect(exchange.attributes.basicAuth).toBeNull();
  });

  test('does not outlast the request timeout', async () => {
    const shared = deps();
    const step = basicAuth({ mode: 'strict', realm: 'r', location: authorization, users }, context(shared));
    const { exchange } = traced({ headers: Headers.from([['authorization', basic('eve:wrong')]]) });
    exchange.deadlineAt = shared.clock.now() + 10;
    const pending = step(exchange);
    shared.clock.advance(10);
    expect(await pending).toMatchObject({ kind: 'fail', refusal: { status: 504 } });
  });
});
