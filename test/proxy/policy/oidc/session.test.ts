import { describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../proxy/exchange/headers.ts';
import { returnTo } from '../../../../proxy/policy/oidc/login.ts';
import { cookiesNamed, stripCookies } from '../../../../proxy/policy/oidc/reserved-cookies.ts';
import { CookieSealer } from '../../../../proxy/policy/oidc/sealed-cookie.ts';
import { BrowserState } from '../../../../proxy/policy/oidc/session.ts';
import type { Oidc } from '../../../../src/config/ir/index.ts';
import { Secret } from '../../../../src/shared/secret.ts';

const spec: Oidc = {
  policyId: 'route/a',
  issuer: 'https://issuer.test',
  clientId: 'shop',
  clientSecret: new Secret('secret'),
  redirectUri: 'https://shop.test/callback',
  scopes: ['openid'],
  provider: {
    kind: 'explicit',
    authorizationEndpoint: 'https://issuer.test/auth',
    tokenEndpoint: 'https://issuer.test/token',
    tokenEndpointAuth: 'clientSecretBasic',
    keys: { kind: 'inline', keys: [] },
  },
  cookieKey: new Secret('0f'.repeat(32)),
};

const transaction = {
  transactionId: 'x'.repeat(43),
  csrfState: 'c',
  nonce: 'n',
  pkceVerifier: 'p',
  originalUri: '/a',
};

class Time {
  ms = 1_800_000_000_000;
  readonly now = (): number => this.ms;
}

/** As the browser sends it back. */
function sent(setCookie: string | null): Headers {
  return Headers.from([['cookie', (setCookie ?? '').split(';', 1)[0] ?? '']]);
}

describe('what a browser keeps', () => {
  test('is a session for an hour at most, and never longer than its token', () => {
    const time = new Time();
    const state = new BrowserState(spec, time.now);
    const long = state.startSession('token', time.ms / 1000 + 9000);
    expect(long).toMatch(/^gw_oidc_s_[0-9a-f]{16}=[^;]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/);
    const short = state.startSession('token', time.ms / 1000 + 30.5);
    expect(short).toContain('Max-Age=30;');
    expect(state.startSession('token', time.ms / 1000 - 30)).toContain('Max-Age=0;');
    expect(state.session(sent(long))).toBe('token');
    time.ms += 30_000;
    expect(state.session(sent(short))).toBeNull();
    time.ms += 3_569_999;
    expect(state.session(sent(long))).toBe('token');
    time.ms += 1;
    expect(state.session(sent(long))).toBeNull();
  });

  test('is a login under way for five minutes', () => {
    const time = new Time();
    const state = new BrowserState(spec, time.now);
    const begun = sent(state.startTransaction(transaction));
    expect(state.transaction(begun, transaction.transactionId)).toMatchObject(transaction);
    expect(state.transaction(begun, 'y'.repeat(43))).toBeNull();
    time.ms += 300_000;
    expect(state.transaction(begun, transaction.transactionId)).toBeNull();
  });

  test('is worthless under the name of another login, to another policy and with another key', () => {
    const time = new Time();
    const state = new BrowserState(spec, time.now);
    const value = (state.startTransaction(transaction).split('=', 2)[1] ?? '').split(';', 1)[0] ?? '';
    const renamed = Headers.from([['cookie', `${state.names.transaction}${'y'.repeat(43)}=${value}`]]);
    expect(state.transaction(renamed, 'y'.repeat(43))).toBeNull();
    const session = (state.startSession('token', time.ms / 1000 + 60) ?? '').split(';', 1)[0]?.split(/=(.*)/)[1] ?? '';
    for (const change of [{ policyId: 'route/b' }, { cookieKey: new Secret('f0'.repeat(32)) }]) {
      const other = new BrowserState({ ...spec, ...change }, time.now);
      expect(other.session(Headers.from([['cookie', `${other.names.session}=${session}`]]))).toBeNull();
    }
    expect(state.session(Headers.from([['cookie', `${state.names.session}=${session}`]]))).toBe('token');
  });

  test('never exceeds what browsers keep', () => {
    const time = new Time();
    const state = new BrowserState(spec, time.now);
    expect(state.startSession('t'.repeat(2600), time.ms / 1000 + 60)).not.toBeNull();
    expect(state.startSession('t'.repeat(2900), time.ms / 1000 + 60)).toBeNull();
  });
});

describe('a sealed cookie', () => {
  const sealer = new CookieSealer(spec.cookieKey, 'route/a');

  test('opens for its purpose alone, and only as it was', () => {
    const value = sealer.seal('session', { a: 1 });
    expect(sealer.open('session', value)).toEqual({ a: 1 });
    expect(sealer.open('transaction', value)).toBeNull();
    expect(sealer.seal('session', { a: 1 })).not.toBe(value);
    for (let at = 0; at < value.length; at++) {
      const changed = value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1);
      expect(sealer.open('session', changed)).toBeNull();
    }
    for (const other of ['', '=', value.slice(4), value.slice(0, -4), `${value}AAAA`, ` ${value}`, 'A'.repeat(5000)])
      expect(sealer.open('session', other)).toBeNull();
  });
});

describe('reserved cookies', () => {
  test('are taken away and no others', () => {
    const headers = Headers.from([
      ['cookie', 'a=1; gw_oidc_s_1=x;gw_oidc_t_2.3=y; b=gw_oidc_'],
      ['cookie', 'xgw_oidc_s=2;  gw_oidc_=z'],
    ]);
    expect(cookiesNamed(headers, 'gw_oidc_t_')).toEqual(['gw_oidc_t_2.3']);
    stripCookies(headers, 'gw_oidc_');
    expect([...headers]).toEqual([['cookie', 'a=1; b=gw_oidc_; xgw_oidc_s=2']]);
    const only = Headers.from([['cookie', 'gw_oidc_s_1=x']]);
    stripCookies(only, 'gw_oidc_');
    expect(only.has('cookie')).toBe(false);
  });
});

describe('the way back after a login', () => {
  test.each([
    ['/a?b=c', '/a?b=c'],
    ['//evil.test', '/'],
    ['/\\evil.test', '/'],
    ['/a\\b', '/'],
    ['https://evil.test/', '/'],
    ['*', '/'],
    ['', '/'],
    ['/a\tb', '/'],
    ['/a\r\nset-cookie: x=1', '/'],
    ['/callback?state=1', '/'],
    ['/callback/more', '/callback/more'],
    [`/${'a'.repeat(2047)}`, `/${'a'.repeat(2047)}`],
    [`/${'a'.repeat(2048)}`, '/'],
  ])('from %j is %j', (target, end) => {
    expect(returnTo(target, '/callback')).toBe(end);
  });
});
