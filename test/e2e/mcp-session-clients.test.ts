/** Sessions belong to whom the gateway has found their client to be: somebody else's use of an id is that of an unknown one. */
import { request } from 'node:http';
import { once } from 'node:events';

import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { seconds, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { eventually } from './clients.ts';
import { type Answer, ask, Cleanup, startGateway } from './gateway.ts';
import { handshake, say, type SessionTarget, sessionTarget } from './mcp-target.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const KEY = '0123456789abcdef'.repeat(4);
/** Enough connections that every thread gets some. */
const MANY = 6;

type As = Readonly<Record<string, string>>;

let one: Signer;
let alice: As;
let refreshed: As;
let bob: As;
beforeAll(async () => {
  one = await signer('one');
  const as = async (claims: Record<string, unknown>): Promise<As> => ({
    authorization: `Bearer ${await token(one, { claims })}`,
  });
  alice = await as({ sub: 'alice' });
  refreshed = await as({ sub: 'alice', exp: seconds(7000), jti: 'other' });
  bob = await as({ sub: 'bob' });
});

const nobody: As = {};
const keyOne: As = { authorization: 'Bearer key-of-one' };
const keyTwo: As = { authorization: 'Bearer key-of-two' };
const userOne: As = { authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` };
const userTwo: As = { authorization: `Basic ${Buffer.from('ben:secret').toString('base64')}` };

function jwt(mode = 'strict'): string {
  const keys = JSON.stringify({ keys: [one.jwk] });
  return `jwtAuth: {mode: ${mode}, issuer: "https://issuer.test", jwks: '${keys}'}`;
}
const apiKey = 'apiKey: {keys: [{key: key-of-one}, {key: key-of-two}]}';
// Both have the password `secret`.
const basic = String.raw`basicAuth: {htpasswd: "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\nben:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="}`;

async function gatewayWith(
  policy: string,
  target: SessionTarget,
  options: { threads?: number; env?: Record<string, string> } = {},
) {
  const text = `gateways: {default: {port: 80}}
routes:
- policies:
    ${policy}
  backends: [{mcp: {targets: [{name: t, mcp: {host: "http://127.0.0.1:${target.port}/mcp"}}]}}]
`;
  const gateway = cleanup.add(await startGateway(text, { threads: 2, ...options }));
  return { ...gateway, mcp: gateway.port(80) };
}

async function begun(port: number, as: As): Promise<string> {
  const { headers, body, status } = await say(port, null, handshake, as);
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error(`no session: ${status} ${body}`);
  await say(port, id, { method: 'notifications/initialized' }, as);
  return id;
}

const tell = (port: number, id: string, as: As): Promise<Answer> =>
  say(port, id, { id: 5, method: 'tools/call', params: { name: 'tell' } }, as);
const del = (port: number, id: string, as: As): Promise<Answer> =>
  ask(port, '/mcp', { method: 'DELETE', headers: { 'mcp-session-id': id, ...as } });
const get = (port: number, id: string, as: As): Promise<Answer> =>
  ask(port, '/mcp', { headers: { accept: 'text/event-stream', 'mcp-session-id': id, ...as } });

/** Without what differs from one answer to the next. */
function seen({ status, headers: { date: _date, ...headers }, body }: Answer): object {
  return { status, headers, body };
}

const KINDS: readonly (readonly [string, () => string, () => readonly [As, As, As]])[] = [
  ['a token', () => jwt(), () => [alice, refreshed, bob]],
  ['an API key', () => apiKey, () => [keyOne, keyOne, keyTwo]],
  ['a password', () => basic, () => [userOne, userOne, userTwo]],
];

describe.each(KINDS)('a session that was begun with %s', (_kind, policy, clients) => {
  test.each([
    ['readable', {}],
    ['encrypted', { SESSION_KEY: KEY }],
  ])('is its client’s alone, in every thread, where ids are %s', async (_ids, env) => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayWith(policy(), target, { env });
    const [own, again, other] = clients();
    const id = await begun(mcp, own);
    const heard = target.heard.length;
    for (let i = 0; i < MANY; i++) {
      expect(seen(await tell(mcp, id, other))).toMatchObject({ status: 404, body: 'session not found' });
      expect(seen(await get(mcp, id, other))).toMatchObject({ status: 404, body: 'session not found' });
      expect(seen(await del(mcp, id, other))).toMatchObject({ status: 202, body: '' });
    }
    expect(target.heard).toHaveLength(heard);
    for (let i = 0; i < MANY; i++) expect((await tell(mcp, id, again)).status).toBe(200);
    expect((await del(mcp, id, again)).status).toBe(202);
    expect((await tell(mcp, id, own)).status).toBe(404);
  });

  test('goes on with its client in a replica, and with nobody else', async () => {
    const target = cleanup.add(await sessionTarget());
    const env = { SESSION_KEY: KEY };
    const [first, second] = [
      await gatewayWith(policy(), target, { env }),
      await gatewayWith(policy(), target, { env }),
    ];
    const [own, again, other] = clients();
    const id = await begun(first.mcp, own);
    for (let i = 0; i < MANY; i++) {
      expect((await tell(second.mcp, id, other)).status).toBe(404);
      expect((await del(second.mcp, id, other)).status).toBe(202);
    }
    for (let i = 0; i < MANY; i++) expect((await tell(second.mcp, id, again)).status).toBe(200);
    for (let i = 0; i < MANY; i++) expect((await tell(second.mcp, id, other)).status).toBe(404);
  });
});

test('answers about somebody else’s session are those about none', async () => {
  const target = cleanup.add(await sessionTarget());
  const { mcp } = await gatewayWith(jwt(), target, { threads: 1 });
  const id = await begun(mcp, alice);
  const none = await begun(mcp, bob);
  await del(mcp, none, bob);
  for (const grpc of [{}, { 'content-type': 'application/grpc' }])
    expect(seen(await get(mcp, id, { ...bob, ...grpc }))).toEqual(seen(await get(mcp, none, { ...bob, ...grpc })));
  expect(seen(await tell(mcp, id, bob))).toEqual(seen(await tell(mcp, none, bob)));
  expect(seen(await del(mcp, id, bob))).toEqual(seen(await del(mcp, none, bob)));
});

test('sessions that were begun without a login are for everybody, and those with one not for nobody', async () => {
  const target = cleanup.add(await sessionTarget());
  const { mcp } = await gatewayWith(jwt('optional'), target);
  const [open, owned] = [await begun(mcp, nobody), await begun(mcp, alice)];
  for (let i = 0; i < MANY; i++) {
    for (const as of [nobody, alice, bob]) expect((await tell(mcp, open, as)).status).toBe(200);
    expect((await tell(mcp, owned, nobody)).status).toBe(404);
    expect((await tell(mcp, owned, alice)).status).toBe(200);
  }
});

test('whoever may look sees why: in the log, and in a trace', async () => {
  const target = cleanup.add(await sessionTarget());
  const { mcp, admin, logged } = await gatewayWith(jwt(), target, { threads: 1 });
  const id = await begun(mcp, alice);
  const watch = cleanup.add(await TraceWatch.open(admin));
  const [told] = await Promise.all([watch.finished(), tell(mcp, id, bob)]);
  expect(told).toContain('"kind":"mcp","details":"the session was begun by another client"');
  await logged('http.status=404', 'reason=MCP', 'the session was begun by another client');
});

test('an id that was edited opens nothing where it is not the target’s own', async () => {
  const target = cleanup.add(await sessionTarget());
  const { mcp } = await gatewayWith(jwt(), target);
  const id = await begun(mcp, alice);
  const content = JSON.parse(Buffer.from(id, 'base64url').toString());
  delete content.p;
  const edited = Buffer.from(JSON.stringify(content)).toString('base64url');
  for (let i = 0; i < MANY; i++) expect((await tell(mcp, edited, bob)).status).toBe(404);
});

describe('a login that is made for servers of MCP', () => {
  const login = (): string => {
    const keys = JSON.stringify({ keys: [one.jwk] });
    return `mcpAuthentication: {issuer: "https://issuer.test", audiences: [mcp], jwks: '${keys}', resourceMetadata: {}}`;
  };
  const place = (target: SessionTarget): string => `{name: t, mcp: {host: "http://127.0.0.1:${target.port}/mcp"}}`;

  test.each([
    [
      'of a route',
      (target: SessionTarget) => `gateways: {default: {port: 80}}
routes: [{policies: {${login()}}, backends: [{mcp: {targets: [${place(target)}]}}]}]`,
    ],
    [
      'of the section',
      (target: SessionTarget) => `mcp: {port: 80, policies: {${login()}}, targets: [${place(target)}]}`,
    ],
  ])('tells whose a session is: %s', async (_where, text) => {
    const target = cleanup.add(await sessionTarget());
    const mcp = cleanup.add(await startGateway(text(target), { threads: 2 })).port(80);
    const as = async (sub: string, jti: string): Promise<As> => ({
      authorization: `Bearer ${await token(one, { claims: { sub, jti, aud: 'mcp' } })}`,
    });
    const id = await begun(mcp, await as('alice', '1'));
    for (let i = 0; i < MANY; i++) {
      expect((await tell(mcp, id, await as('bob', '2'))).status).toBe(404);
      expect((await tell(mcp, id, await as('alice', '3'))).status).toBe(200);
    }
  });
});

describe('a stream of the older transport', () => {
  test('takes messages of the client that has opened it, whatever thread gets them', async () => {
    const target = cleanup.add(await sessionTarget());
    const { mcp } = await gatewayWith(jwt(), target);
    const outgoing = request({
      host: '127.0.0.1',
      port: mcp,
      path: '/sse',
      headers: { accept: 'text/event-stream', ...alice },
    });
    outgoing.on('error', () => {});
    cleanup.add({ close: () => outgoing.destroy() });
    const [response] = await once(outgoing.end(), 'response');
    let heard = '';
    response.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    response.on('error', () => {});
    await eventually('the address is told', () => heard.includes('sessionId='));
    const address = /data: (\S+)/.exec(heard)?.[1] ?? '';
    const post = (message: object, as: As): Promise<Answer> =>
      ask(mcp, address, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...as },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    for (let i = 0; i < MANY; i++)
      expect(seen(await post(handshake, bob))).toMatchObject({ status: 404, body: 'session not found' });
    expect((await post(handshake, alice)).status).toBe(202);
    await eventually('it is begun', () => heard.includes('"id":0'));
    for (let i = 0; i < MANY; i++) {
      expect((await post({ id: 100 + i, method: 'ping' }, bob)).status).toBe(404);
      expect((await post({ id: 200 + i, method: 'ping' }, refreshed)).status).toBe(202);
    }
    await eventually('all are answered', () =>
      Array.from({ length: MANY }, (_, i) => `"id":${200 + i}`).every((each) => heard.includes(each)),
    );
    expect(heard).not.toContain('"id":10');
  });
});
