/** Rules in every combination and at every level, budgets under load, and origins that pretend. */
import { Agent, request as httpRequest } from 'node:http';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { forged, ISSUER, signer } from '../proxy/jwt/tokens.ts';
import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const MODES = ['deny', 'require', 'allow'] as const;
type Mode = (typeof MODES)[number];

/** Which rules there are. */
const subsets: readonly (readonly Mode[])[] = Array.from({ length: 8 }, (_, bits) =>
  MODES.filter((_mode, i) => bits & (1 << i)),
);

/** What the expression of a rule comes to: without the header it fails, and a text is no answer. */
const results = [
  ['true', 'yes'],
  ['false', 'no'],
  ['failure', undefined],
] as const;

function rules(modes: readonly Mode[]): string {
  return `authorization: {rules: [${modes.map((mode) => `{${mode}: 'request.headers["x-${mode}"] == "yes"'}`).join(', ')}]}`;
}

/** The order of decision, in the words of its definition. */
function allowed(modes: readonly Mode[], holds: Readonly<Record<Mode, boolean>>): boolean {
  if (modes.includes('deny') && holds.deny) return false;
  if (modes.includes('require') && !holds.require) return false;
  return !modes.includes('allow') || holds.allow;
}

const combinations = results.flatMap((deny) =>
  results.flatMap((require) => results.map((allow) => ({ deny, require, allow }))),
);

describe('rules in every combination', () => {
  const own = new Cleanup();
  let gateway: RunningGateway;
  let reached = 0;
  afterAll(() => own.run());

  beforeAll(async () => {
    const server = own.add(
      await upstream((_request, response) => {
        reached += 1;
        response.end();
      }),
    );
    const backend = `host: "127.0.0.1:${server.port}"`;
    const each = (line: (modes: readonly Mode[], index: number) => string): string => subsets.map(line).join('\n');
    gateway = own.add(
      await startGateway(`gateways:
  open: {port: 79}
${each((_modes, i) => `  gateway${i}: {port: ${80 + i}}`)}
routes:
${each((_modes, i) => `- {gateways: [gateway${i}], backends: [{${backend}}]}`)}
${each((modes, i) => `- {gateways: [open], matches: [{path: {exact: /route${i}}}], policies: {${rules(modes)}}, backends: [{${backend}}]}`)}
${each((modes, i) => `- {gateways: [open], matches: [{path: {exact: /backend${i}}}], backends: [{${backend}, policies: {${rules(modes)}}}]}`)}
policies:
${each((modes, i) => `- {name: {name: p${i}, namespace: default}, target: {gateway: {gatewayName: gateway${i}, gatewayNamespace: default}}, phase: gateway, policy: {${rules(modes)}}}`)}
`),
    );
  });

  test.each(subsets.map((modes, index) => [modes.join(', ') || 'nothing', modes, index] as const))(
    'with %s decide alike on a gateway, a route and a backend',
    async (_what, modes, index) => {
      for (const { deny, require, allow } of combinations) {
        const headers = Object.fromEntries(
          Object.entries({ 'x-deny': deny[1], 'x-require': require[1], 'x-allow': allow[1] }).flatMap(([name, value]) =>
            value === undefined ? [] : [[name, value]],
          ),
        );
        const holds = { deny: deny[0] === 'true', require: require[0] === 'true', allow: allow[0] === 'true' };
        const expected = allowed(modes, holds) ? 200 : 403;
        const before = reached;
        const statuses = await Promise.all([
          ask(gateway.port(80 + index), '/', { headers }),
          ask(gateway.port(79), `/route${index}`, { headers }),
          ask(gateway.port(79), `/backend${index}`, { headers }),
        ]).then((answers) => answers.map(({ status }) => status));
        expect({ headers, statuses }).toEqual({ headers, statuses: [expected, expected, expected] });
        expect(reached - before).toBe(expected === 200 ? 3 : 0);
      }
    },
  );
});

describe('rules', () => {
  async function withRules(text: string, more = '') {
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes: [{policies: {${more}authorization: {rules: [${text}]}, directResponse: {status: 200}}}]\n`),
    );
    return (headers: Record<string, string> = {}) => ask(gateway.port(80), '/', { headers });
  }

  test.each([
    '"true"',
    '1',
    '"yes"',
    '[true]',
    '{"a": true}',
    'null',
    'request.headers',
    'b"true"',
    '1 / 0 == 0',
    'int("x") > 0',
    '[][0]',
    'jwt.admin',
  ])('that come to %s instead of a truth neither let in nor keep out', async (expression) => {
    const quoted = `'${expression}'`;
    expect((await (await withRules(`{allow: ${quoted}}`))()).status).toBe(403);
    expect((await (await withRules(`{require: ${quoted}}`))()).status).toBe(403);
    expect((await (await withRules(`{deny: ${quoted}}`))()).status).toBe(200);
  });

  test('are not looked at before somebody is known', async () => {
    const one = await signer('one');
    const jwks = JSON.stringify({ keys: [one.jwk] });
    const get = await withRules(`{deny: 'true'}`, `jwtAuth: {issuer: ${ISSUER}, jwks: '${jwks}'}, `);
    expect((await get()).status).toBe(401);
    expect((await get({ authorization: `Bearer ${forged({ alg: 'none', kid: 'one' }, {})}` })).status).toBe(401);
  });
});

describe('budgets under load', () => {
  /** So many requests over some connections that stay open. */
  async function load(
    port: number,
    { requests, connections }: { requests: number; connections: number },
  ): Promise<number[]> {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    cleanup.add({ close: () => agent.destroy() });
    const one = (): Promise<number> =>
      new Promise((resolve, reject) => {
        httpRequest({ host: '127.0.0.1', port, agent, headers: { host: 'shop.test' } }, (response) => {
          response.resume();
          response.on('end', () => resolve(response.statusCode ?? 0));
        })
          .on('error', reject)
          .end();
      });
    return Promise.all(Array.from({ length: requests }, one));
  }

  async function limited(limits: string): Promise<number> {
    const running = await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{policies: {localRateLimit: [${limits}], directResponse: {status: 200}}}]\n`,
      { threads: 2 },
    );
    return cleanup.add(running).port(80);
  }

  const admitted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;

  test('are spent exactly, whichever thread is asked', async () => {
    for (let round = 0; round < 3; round++) {
      const port = await limited('{maxTokens: 137, fillInterval: 1h}');
      const statuses = await load(port, { requests: 600, connections: 32 });
      expect(admitted(statuses)).toBe(137);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
    }
  });

  test('that are filled meanwhile never give more than they got', async () => {
    const before = performance.now();
    const port = await limited('{maxTokens: 20, tokensPerFill: 5, fillInterval: 50ms}');
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) statuses.push(...(await load(port, { requests: 100, connections: 16 })));
    const fills = Math.ceil((performance.now() - before) / 50);
    expect(admitted(statuses)).toBeLessThanOrEqual(20 + 5 * fills);
    expect(admitted(statuses)).toBeGreaterThan(20);
    // Nothing is saved up beyond the size.
    // Nobody asks while it is filled: that would take out what comes in.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await ask(port, '/')).headers['x-ratelimit-remaining']).toBe('19');
    const burst = performance.now();
    const more = admitted(await load(port, { requests: 100, connections: 16 }));
    expect(more).toBeLessThanOrEqual(20 + 5 * Math.ceil((performance.now() - burst) / 50 + 1));
  });

  test('of several limits are taken in order: what an earlier one gave is spent', async () => {
    const port = await limited(
      '{maxTokens: 5, fillInterval: 1h}, {maxTokens: 3, fillInterval: 1h}, {maxTokens: 100, fillInterval: 1h}',
    );
    const answers = [];
    for (let i = 0; i < 7; i++) answers.push(await ask(port, '/'));
    expect(
      answers.map(({ status, headers }) => [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]),
    ).toEqual([
      [200, '3', '2'],
      [200, '3', '1'],
      [200, '3', '0'],
      [429, '3', '0'],
      [429, '3', '0'],
      [429, '5', '0'],
      [429, '5', '0'],
    ]);
  });

  test('come back after their unit, with the burst or without', async () => {
    const port = await limited('{requests: 2, unit: Seconds, burst: 3}');
    expect(admitted(await load(port, { requests: 5, connections: 5 }))).toBe(5);
    const refused = await ask(port, '/');
    expect([refused.status, refused.headers['x-ratelimit-limit'], refused.headers['x-ratelimit-reset']]).toEqual([
      429,
      '5',
      '1',
    ]);
    await eventually('there is more', async () => (await ask(port, '/')).status === 200);
  });

  test('of nothing let nobody in', async () => {
    const port = await limited('{maxTokens: 0, fillInterval: 1s}');
    const refused = await ask(port, '/');
    expect(refused).toMatchObject({ status: 429, headers: { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' } });
    expect(refused.headers).not.toHaveProperty('x-ratelimit-reset');
  });

  test.each([
    ['more in a fill than it holds', '{maxTokens: 1, tokensPerFill: 2, fillInterval: 1s}', /fill/],
    ['no time between fills', '{maxTokens: 1, fillInterval: 0}', /fillInterval/],
    ['a time that runs back', '{maxTokens: 1, fillInterval: -1s}', /fillInterval/],
    ['no size', '{fillInterval: 1s}', /maxTokens/],
    ['half a token', '{maxTokens: 1.5, fillInterval: 1s}', /maxTokens/],
    ['fewer than none', '{maxTokens: -1, fillInterval: 1s}', /maxTokens/],
    ['more than can be counted', '{maxTokens: 99999999999, fillInterval: 1s}', /maxTokens/],
    ['a number in quotes', '{maxTokens: "5", fillInterval: 1s}', /maxTokens/],
    ['both spellings', '{maxTokens: 5, fillInterval: 1s, requests: 5}', /two ways/],
    ['a unit of its own', '{requests: 5, unit: Fortnights}', /unit/],
    ['no requests', '{requests: 0, unit: Seconds}', /requests/],
  ])('with %s are refused at load', async (_what, limit, message) => {
    await expect(limited(limit)).rejects.toThrow(message);
  });
});

describe('an origin that pretends', () => {
  const own = new Cleanup();
  let port = 0;
  afterAll(() => own.run());

  beforeAll(async () => {
    const server = own.add(await upstream(echo));
    const backends = `backends: [{host: "127.0.0.1:${server.port}"}]`;
    const gateway = own.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- {matches: [{path: {exact: /cors}}], policies: {cors: {allowOrigins: ["https://a.test", "https://*.b.test", "http://[::1]:8080"], allowMethods: [PUT], allowCredentials: true}}, ${backends}}
- {matches: [{path: {exact: /csrf}}], policies: {csrf: {additionalOrigins: ["https://a.test", "http://[::1]:8080"]}}, ${backends}}
`),
    );
    port = gateway.port(80);
  });

  /** Bytes as they are, one for each character. */
  async function raw(head: string): Promise<string> {
    const client = new RawClient(port);
    client.write(Buffer.from(`${head}\r\nconnection: close\r\n\r\n`, 'latin1'));
    await client.closed;
    return client.text;
  }

  const pretended = [
    'null',
    'NULL',
    '*',
    'https://',
    'https://a.test.',
    'https://a.test/',
    'https://a.test?',
    'https://a.test#',
    'https://a.test:0',
    'https://a.test:444',
    'https://a.test:',
    'https://a.test:99999999',
    'https://a.test:443a',
    'https://a.test:443:443',
    'https://a.test@evil.test',
    'https://a.test:x@evil.test',
    'https://user@a.test',
    'https://evil.test/https://a.test',
    'https://evil.test\\a.test',
    'https://evil.test%2f.b.test',
    'https://evil.test/.b.test',
    'https://evil.test#.b.test',
    'https://evil.test b.test',
    'https://b.test',
    'https://.b.test.evil.test',
    'https://xb.test',
    'https://*.b.test',
    'http://a.test',
    'https:a.test',
    '//a.test',
    'a.test',
    'file://a.test',
    'javascript:alert(1)',
    'http://[::1]',
    'http://[::1]:80',
    'http://[::2]:8080',
    'http://[::1:8080',
    'http://::1:8080',
    'http://[::1%25eth0]:8080',
    'http://[::ffff:127.0.0.1]:8080',
    'http://127.0.0.1:8080',
    'https://\u00e1.test',
    'https://a.test\u00a0',
    'https://a.test, https://evil.test',
    'https://evil.test, https://a.test',
    `https://${'a'.repeat(10_000)}.b.test.evil.test`,
  ];

  test.each(pretended)('as %j is not let in', async (origin) => {
    const plain = await raw(`GET /cors HTTP/1.1\r\nhost: shop.test\r\norigin: ${origin}`);
    expect(plain).toMatch(/^HTTP\/1\.1 200 /);
    expect(plain).not.toMatch(/^access-control-/im);
    const preflight = await raw(
      `OPTIONS /cors HTTP/1.1\r\nhost: shop.test\r\norigin: ${origin}\r\naccess-control-request-method: PUT`,
    );
    expect(preflight).toMatch(/^HTTP\/1\.1 200 /);
    expect(preflight).not.toMatch(/^access-control-/im);
    const post = await raw(
      `POST /csrf HTTP/1.1\r\nhost: shop.test\r\nsec-fetch-site: cross-site\r\norigin: ${origin}\r\ncontent-length: 0`,
    );
    expect(post).toMatch(/^HTTP\/1\.1 403 /);
  });

  test.each(pretended.filter((origin) => origin.toLowerCase() !== 'null'))(
    'as %j changes nothing without the word of a browser',
    async (origin) => {
      expect(await raw(`POST /csrf HTTP/1.1\r\nhost: shop.test\r\norigin: ${origin}\r\ncontent-length: 0`)).toMatch(
        /^HTTP\/1\.1 403 /,
      );
    },
  );

  test.each([
    ['https://a.test', 'https://a.test'],
    ['in capitals', 'HTTPS://A.TEST'],
    ['with its port', 'https://a.test:443'],
    ['below a wildcard', 'https://x.y.b.test'],
    ['of IPv6', 'http://[::1]:8080'],
  ])('is not one %s: it is let in, and named as it came', async (_what, origin) => {
    expect(await raw(`GET /cors HTTP/1.1\r\nhost: shop.test\r\norigin: ${origin}`)).toContain(
      `\r\naccess-control-allow-origin: ${origin}\r\n`,
    );
  });

  test('cannot hide behind a second one, nor behind the host that it brings', async () => {
    const twice = (first: string, second: string): Promise<string> =>
      raw(`POST /csrf HTTP/1.1\r\nhost: shop.test\r\norigin: ${first}\r\norigin: ${second}\r\ncontent-length: 0`);
    expect(await twice('https://evil.test', 'http://shop.test')).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(
      await raw('POST /csrf HTTP/1.1\r\nhost: shop.test\r\norigin: https://shop.test\r\ncontent-length: 0'),
    ).toMatch(/^HTTP\/1\.1 403 /);
    expect(
      await raw(
        'POST /csrf HTTP/1.1\r\nhost: shop.test\r\nx-forwarded-host: evil.test\r\nx-forwarded-proto: https\r\norigin: https://evil.test\r\ncontent-length: 0',
      ),
    ).toMatch(/^HTTP\/1\.1 403 /);
    expect(
      await raw(
        'POST /csrf HTTP/1.1\r\nhost: shop.test\r\nsec-fetch-site: cross-site\r\nsec-fetch-site: same-origin\r\norigin: https://evil.test\r\ncontent-length: 0',
      ),
    ).toMatch(/^HTTP\/1\.1 403 /);
  });
});
