import { afterEach, describe, expect, test } from '@jest/globals';

import { freePort } from '../free-port.ts';
import { Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { Browser, CLIENT_ID, CLIENT_SECRET, type OpenIdProvider, type Page, startProvider } from './openid.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const env = { OIDC_COOKIE_SECRET: '0123456789abcdef'.repeat(4) };

interface Site {
  readonly gateway: RunningGateway;
  readonly provider: OpenIdProvider;
  readonly browser: Browser;
  readonly origin: string;
  readonly at: (path: string) => string;
}

interface Choices {
  readonly auth?: 'client_secret_basic' | 'client_secret_post';
  /** More keys of the policy. */
  readonly more?: string;
  readonly onGateway?: boolean;
  readonly threads?: number;
}

async function site(choices: Choices = {}): Promise<Site> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const provider = cleanup.add(await startProvider(`${origin}/oauth/callback`, choices.auth));
  const behind = cleanup.add(await upstream(echo));
  const text = config(port, behind.port, provider.issuer, choices);
  const options = { env, ...(choices.threads === undefined ? {} : { threads: choices.threads }) };
  const gateway = cleanup.add(await startGateway(text, options));
  return { gateway, provider, origin, browser: new Browser(), at: (path) => origin + path };
}

function config(port: number, backend: number, issuer: string, { more = '', onGateway = false }: Choices): string {
  const policy = `oidc: {issuer: "${issuer}", clientId: "${CLIENT_ID}", clientSecret: "${CLIENT_SECRET}", redirectURI: "http://127.0.0.1:${port}/oauth/callback", scopes: [email, openid]${more}}`;
  return `gateways: {default: {port: ${port}${onGateway ? `, ${policy}` : ''}}}
routes:
- policies: {${onGateway ? '' : policy}}
  backends: [{host: "127.0.0.1:${backend}"}]
`;
}

interface Seen {
  readonly url: string;
  readonly headers: Record<string, string>;
}

function seen(page: Page): Seen {
  return JSON.parse(page.body) as Seen; // what `echo` answers
}

/** The answer of the provider, on its way to the callback, not delivered yet. */
async function answered({ browser, at }: Site, user = 'alice', path = '/'): Promise<string> {
  const isCallback = (next: string): boolean => next.startsWith(at('/oauth/callback'));
  const page = await browser.logIn(await browser.open(at(path), isCallback), user, isCallback);
  return page.headers.location ?? '';
}

describe('a login', () => {
  test.each([{}, { auth: 'client_secret_post' }, { onGateway: true }, { threads: 2 }] as const)(
    'goes to the provider and comes back to where it began (%j)',
    async (choices) => {
      const own = await site(choices);
      const { browser, at, origin, gateway } = own;
      const page = await browser.open(at('/cart?item=1&x=%20'));
      expect(page.url).toContain('/interaction/');
      const [asked] = browser.visited.filter((url) => url.startsWith(`${own.provider.issuer}/auth?`));
      expect(Object.fromEntries(new URL(asked ?? '').searchParams)).toMatchObject({
        response_type: 'code',
        client_id: CLIENT_ID,
        redirect_uri: at('/oauth/callback'),
        scope: 'openid email',
        code_challenge_method: 'S256',
      });
      const back = await browser.logIn(page, 'alice');
      expect([back.status, back.url]).toEqual([200, at('/cart?item=1&x=%20')]);
      expect(seen(back).headers).not.toHaveProperty('cookie');
      expect([...browser.cookies(origin).keys()]).toEqual([expect.stringMatching(/^gw_oidc_s_[0-9a-f]{16}$/)]);
      // From now on nobody asks the provider.
      const before = own.provider.asked.length;
      expect((await browser.ask(at('/again'), { method: 'POST', form: { a: '1' } })).status).toBe(200);
      expect(own.provider.asked).toHaveLength(before);
      await gateway.logged('http.path=/again', 'jwt.sub=alice');
      expect(gateway.log.join('\n')).not.toMatch(/code=[^<&]{10}/);
    },
  );

  test('sets cookies that scripts cannot read, and nothing keeps its redirects', async () => {
    const { browser, at } = await site();
    const { status, headers, body } = await browser.ask(at('/'));
    expect([status, body]).toEqual([302, '']);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^gw_oidc_t_[0-9a-f]{16}\.[\w-]{43}=[A-Za-z0-9+/]+=*; Path=\/; Max-Age=300; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  test('shows no secrets in the dump', async () => {
    const { gateway, provider } = await site();
    const dump = await (await fetch(`${gateway.admin}/config_dump`)).text();
    expect(dump).toContain(`${provider.issuer}/.well-known/openid-configuration`);
    for (const secret of [CLIENT_SECRET, JSON.stringify(CLIENT_SECRET).slice(1, -1), env.OIDC_COOKIE_SECRET])
      expect(dump).not.toContain(secret);
  });

  test('follows endpoints that the configuration names', async () => {
    const port = await freePort();
    const provider = cleanup.add(await startProvider(`http://127.0.0.1:${port}/oauth/callback`));
    const behind = cleanup.add(await upstream(echo));
    const { issuer } = provider;
    const more = `, authorizationEndpoint: "${issuer}/auth", tokenEndpoint: "${issuer}/token", jwks: {url: "${issuer}/jwks"}`;
    cleanup.add(await startGateway(config(port, behind.port, issuer, { more }), { env }));
    const browser = new Browser();
    const page = await browser.logIn(await browser.open(`http://127.0.0.1:${port}/a`), 'bob');
    expect([page.status, page.url]).toEqual([200, `http://127.0.0.1:${port}/a`]);
    expect(provider.asked).not.toContain('GET /.well-known/openid-configuration');
  });

  test('lets preflights pass, and takes its cookies from every request on every route', async () => {
    const { at, browser } = await site();
    const headers = {
      origin: 'http://other.test',
      'access-control-request-method': 'GET',
      cookie: 'a=1; gw_oidc_s_x=y',
    };
    const page = await browser.ask(at('/'), { method: 'OPTIONS', headers });
    expect(page.status).toBe(200);
    expect(seen(page).headers['cookie']).toBe('a=1');
    const behind = cleanup.add(await upstream(echo));
    const plain = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${behind.port}"}]}]`),
    );
    const other = await browser.ask(`http://127.0.0.1:${plain.port(80)}/`, {
      headers: { cookie: 'gw_oidc_t_1.2=3;gw_oidc_s_4=5' },
    });
    expect(seen(other).headers).not.toHaveProperty('cookie');
  });

  test('begins anew for a session that is expired, tampered with, of another key or of another kind', async () => {
    const own = await site();
    const { browser, at, origin } = own;
    await browser.open(await answered(own));
    const [[name, session] = ['', { value: '' }]] = browser.cookies(origin);
    expect((await browser.ask(at('/'))).status).toBe(200);
    const flip = (at: number): string =>
      session.value.slice(0, at) + (session.value[at] === 'A' ? 'B' : 'A') + session.value.slice(at + 1);
    const stranger = new Browser();
    for (const value of [
      '',
      'x',
      flip(2),
      flip(200),
      session.value.slice(0, -8),
      `${session.value}AAAA`,
      'A'.repeat(3000),
    ]) {
      const page = await stranger.ask(at('/'), { headers: { cookie: `${name}=${value}` } });
      expect(page.status).toBe(302);
    }
    // A transaction is no session.
    const begun = await new Browser().ask(at('/'));
    const transaction = /=([^;]+)/.exec(begun.headers['set-cookie']?.[0] ?? '')?.[1] ?? '';
    expect((await stranger.ask(at('/'), { headers: { cookie: `${name}=${transaction}` } })).status).toBe(302);
  });

  test('does not fill the browser with logins that nobody finishes', async () => {
    const { browser, at, origin } = await site();
    for (let n = 0; n < 30; n++) await browser.ask(at(`/script/${n}`));
    expect(browser.cookies(origin).size).toBeLessThanOrEqual(8);
  });

  test.each([
    ['//evil.test/', '/'],
    ['/\\evil.test', '/'],
    ['/oauth/callback', '/'],
    [`/${'a'.repeat(2100)}`, '/'],
    ['/fine?next=//evil.test', '/fine?next=//evil.test'],
  ])('that began at %s ends at %s', async (path, end) => {
    const own = await site();
    const callback = await answered(own, 'alice', path);
    const page = await own.browser.ask(callback);
    expect([page.status, page.headers.location]).toEqual([302, end]);
  });
});

describe('a callback', () => {
  const failure = (page: Page): [number, string, unknown] => [page.status, page.body, page.headers['x-gw-reason']];

  test('is refused in a browser that has not begun the login, and when it comes twice', async () => {
    const own = await site();
    const callback = await answered(own);
    const none = 'oidc failure: there is no such login under way in this browser, or it took too long';
    expect(failure(await new Browser().ask(callback))).toEqual([400, none, 'Oidc']);
    expect((await own.browser.ask(callback)).status).toBe(302);
    expect(failure(await own.browser.ask(callback))).toEqual([400, none, 'Oidc']);
    expect(own.provider.asked.filter((path) => path === 'POST /token')).toHaveLength(1);
  });

  test('is refused when its state or its transaction was tampered with', async () => {
    const own = await site();
    const callback = new URL(await answered(own));
    const good = JSON.parse(Buffer.from(callback.searchParams.get('state') ?? '', 'base64url').toString()) as {
      transactionId: string;
      csrfState: string;
    };
    const states: unknown[] = [
      { ...good, csrfState: `${good.csrfState.slice(0, -1)}${good.csrfState.endsWith('A') ? 'B' : 'A'}` },
      { ...good, transactionId: 'x'.repeat(43) },
      { ...good, transactionId: '__proto__' },
      { ...good, transactionId: 7 },
      [],
      'x',
      null,
      { ...good, filling: 'x'.repeat(2000) },
    ];
    for (const state of states) {
      callback.searchParams.set('state', Buffer.from(JSON.stringify(state)).toString('base64url'));
      const page = await own.browser.ask(callback.href);
      expect([page.status, page.body]).toEqual([
        400,
        expect.stringMatching(/^oidc failure: (the state|there is no such login)/),
      ]);
    }
    callback.searchParams.set('state', Buffer.from(JSON.stringify(good)).toString('base64url'));
    const [[name, { value }] = ['', { value: '' }]] = own.browser.cookies(own.origin);
    const [stranger] = [new Browser()];
    const cut = await stranger.ask(callback.href, { headers: { cookie: `${name}=${value.slice(0, -4)}` } });
    expect(cut.status).toBe(400);
    expect(own.provider.asked).not.toContain('POST /token');
    expect((await own.browser.ask(callback.href)).status).toBe(302);
  });

  test('tells what the provider said when it refused, but only a plain word', async () => {
    const own = await site();
    const callback = new URL(await answered(own));
    callback.searchParams.delete('code');
    callback.searchParams.set('error', 'access_denied');
    const page = await own.browser.ask(callback.href);
    expect(failure(page)).toEqual([400, 'oidc failure: the provider refused the login "access_denied"', 'Oidc']);
    expect(own.browser.cookies(own.origin).size).toBe(0);
    const again = new URL(await answered(own));
    again.searchParams.delete('code');
    again.searchParams.set('error', '"><script>\n');
    expect((await own.browser.ask(again.href)).body).toBe('oidc failure: the provider refused the login');
  });

  test('is refused when another issuer answers', async () => {
    const own = await site();
    const callback = new URL(await answered(own));
    expect(callback.searchParams.get('iss')).toBe(own.provider.issuer);
    callback.searchParams.set('iss', `${own.provider.issuer}/`);
    expect(failure(await own.browser.ask(callback.href))).toEqual([
      400,
      'oidc failure: the answer is of another issuer',
      'Oidc',
    ]);
  });

  test.each([
    ['down', (response: import('node:http').ServerResponse) => response.destroy()],
    [
      'refusing',
      (response: import('node:http').ServerResponse) => response.writeHead(401).end('{"error":"invalid_client"}'),
    ],
    [
      'redirecting',
      (response: import('node:http').ServerResponse) => response.writeHead(302, { location: '/x' }).end(),
    ],
    ['answering with garbage', (response: import('node:http').ServerResponse) => response.end('<html>')],
    ['answering with a list', (response: import('node:http').ServerResponse) => response.end('[]')],
    [
      'answering without a token',
      (response: import('node:http').ServerResponse) => response.end('{"access_token":"x"}'),
    ],
    ['answering with another type', (response: import('node:http').ServerResponse) => response.end('{"id_token":{}}')],
    ['answering without end', (response: import('node:http').ServerResponse) => response.end('x'.repeat(70_000))],
    [
      'cut off',
      (response: import('node:http').ServerResponse) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{', () => response.destroy());
      },
    ],
  ])('fails with 500 while the token endpoint is %s, and the next login works', async (_what, answer) => {
    const own = await site();
    const callback = await answered(own);
    own.provider.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      answer(response);
      return true;
    };
    const page = await own.browser.ask(callback);
    expect(failure(page)).toEqual([500, 'oidc failure: the token exchange failed', 'Oidc']);
    expect(own.browser.cookies(own.origin).size).toBe(0);
    expect(own.gateway.log.join('\n')).not.toContain(CLIENT_SECRET);
    own.provider.intercept = () => false;
    expect((await own.browser.open(await answered(own))).status).toBe(200);
  });

  test('fails when the ID token is not the one of this login', async () => {
    const own = await site();
    const first = await answered(own);
    const mine = new URL(first);
    // A code of another login of the same client: the provider itself refuses it, as its verifier is another one.
    const other = { ...own, browser: new Browser() };
    const theirs = new URL(await answered(other, 'mallory'));
    mine.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect((await own.browser.ask(mine.href)).status).toBe(500);
    // A provider that is fooled gives the token of somebody else's login: its nonce tells.
    const token = await idTokenOf(own);
    const again = await answered(own);
    own.provider.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.end(JSON.stringify({ id_token: token }));
      return true;
    };
    expect(failure(await own.browser.ask(again))).toEqual([
      400,
      'oidc failure: the ID token was made for another login',
      'Oidc',
    ]);
  });

  test.each([
    ['signed by nobody', (parts: string[]) => `${parts[0]}.${parts[1]}.`],
    ['of no form', () => 'x'],
  ])('fails when the ID token is %s', async (_what, change) => {
    const own = await site();
    const token = await idTokenOf(own);
    const callback = await answered(own);
    own.provider.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      response.end(JSON.stringify({ id_token: change(token.split('.')) }));
      return true;
    };
    expect(failure(await own.browser.ask(callback))).toEqual([500, 'oidc failure: the ID token is not valid', 'Oidc']);
  });

  test('fails when the ID token does not fit into a cookie', async () => {
    const own = await site();
    const token = await idTokenOf(own, 'large');
    expect(token.length).toBeGreaterThan(3800);
    const page = await own.browser.ask(await answered(own, 'large user'));
    expect(failure(page)).toEqual([500, 'oidc failure: the ID token does not fit into a cookie', 'Oidc']);
  });
});

/** The ID token that the provider gives for a login of its own, seen on its way. */
async function idTokenOf(own: Site, user = 'eve'): Promise<string> {
  const { default: OidcProvider } = await import('oidc-provider');
  expect(OidcProvider).toBeDefined();
  let body = '';
  own.provider.intercept = (request, response) => {
    if (request.url !== '/token') return false;
    const end = response.end.bind(response);
    response.end = ((chunk: unknown, ...rest: []) => {
      if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) body += chunk.toString();
      return end(chunk, ...rest);
    }) as typeof response.end; // koa ends a JSON answer with its text
    return false;
  };
  const browser = new Browser();
  await browser.ask(await answered({ ...own, browser }, user));
  own.provider.intercept = () => false;
  return (JSON.parse(body) as { id_token: string }).id_token;
}

describe('a gateway with oidc', () => {
  test('does not start without the key of its cookies, nor with a broken one', async () => {
    const text = config(81, 1, 'http://127.0.0.1:1', {});
    await expect(startGateway(text)).rejects.toThrow('OIDC_COOKIE_SECRET is required when oidc is configured');
    await expect(startGateway(text, { env: { OIDC_COOKIE_SECRET: 'short' } })).rejects.toThrow('64 hexadecimal digits');
  });

  test('does not start while the provider is down or somebody else', async () => {
    const text = (issuer: string): string => config(81, 1, issuer, {});
    await expect(startGateway(text('http://127.0.0.1:1'), { env })).rejects.toThrow(
      /cannot load the discovery document .*ECONNREFUSED/,
    );
    const provider = cleanup.add(await startProvider('http://127.0.0.1:81/oauth/callback'));
    await expect(startGateway(text(`${provider.issuer}/`), { env })).rejects.toThrow(
      `it is of the issuer "${provider.issuer}", not of "${provider.issuer}/"`,
    );
  });
});
