import { describe, expect, test } from '@jest/globals';

import { backendAuth } from '../../../../proxy/backends/auth/compile.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { RequestStep } from '../../../../proxy/policy/contract.ts';
import type { ServiceClient } from '../../../../proxy/services/contract.ts';
import type { OAuthTokenExchange } from '../../../../src/config/ir/index.ts';
import { untraced } from '../../exchange/build.ts';
import { context, deps } from '../../policy/build.ts';

const bearer = { kind: 'header', name: 'authorization', prefix: 'Bearer ' } as const;
const spec: OAuthTokenExchange = {
  kind: 'oauthTokenExchange',
  endpoint: { service: { target: { kind: 'reference', backend: '/as' }, policies: {} }, path: '/token' },
  grantType: 'tokenExchange',
  subject: { source: bearer, tokenType: 'urn:ietf:params:oauth:token-type:access_token' },
  audiences: [],
  scopes: [],
  resources: [],
  additionalParams: [],
  location: bearer,
  cache: { maxEntries: 10, defaultTtlMs: 300_000 },
};

/** The step over an endpoint that answers with a text. */
function step(text: string): RequestStep {
  const client: ServiceClient = {
    name: 'as',
    http: () => Promise.resolve({ status: 200, headers: new Headers(), body: Buffer.from(text) }),
    unary: () => Promise.reject(new Error('not here')),
    stream: () => {
      throw new Error('not here');
    },
  };
  const made = backendAuth({ main: spec, credentials: [] }, context({ ...deps(), services: { open: () => client } }));
  if (made === null) throw new Error('no step');
  return made;
}

function request(token: string) {
  return untraced({ headers: Headers.from([['authorization', `Bearer ${token}`]]) });
}

describe('the step of a token exchange', () => {
  test('waits for the first token, and for a known one it makes no promise', async () => {
    const run = step('{"access_token":"new","token_type":"Bearer"}');
    const first = request('mine');
    const waiting = run(first);
    expect(waiting).toBeInstanceOf(Promise);
    expect(await waiting).toEqual({ kind: 'next' });
    const second = request('mine');
    expect(run(second)).toEqual({ kind: 'next' });
    for (const { request: sent } of [first, second]) expect(sent.headers.get('authorization')).toBe('Bearer new');
  });

  test('gives the request back as it came when the backend has answered', async () => {
    const run = step('{"access_token":"new","token_type":"Bearer"}');
    const exchange = request('mine');
    await run(exchange);
    expect(exchange.lent?.hidesHeader('authorization')).toBe(true);
    exchange.lent?.withdraw(exchange.request);
    expect(exchange.request.headers.get('authorization')).toBe('Bearer mine');
  });

  test('leaves the request alone when it fails', async () => {
    const exchange = request('mine');
    expect(await step('garbage')(exchange)).toMatchObject({
      kind: 'fail',
      refusal: { status: 500, reason: 'Internal' },
    });
    expect(exchange.request.headers.get('authorization')).toBe('Bearer mine');
  });
});
