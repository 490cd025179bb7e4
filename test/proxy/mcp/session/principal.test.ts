import { expect, test } from '@jest/globals';

import type { VerifiedJwt } from '../../../../proxy/exchange/attributes.ts';
import type { PeerIdentity } from '../../../../proxy/exchange/connection.ts';
import { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { principalOf } from '../../../../proxy/mcp/session/principal.ts';
import { Secret } from '../../../../src/shared/secret.ts';
import { targetCall } from '../targets/stdio/world.ts';

interface Known {
  readonly jwt?: VerifiedJwt['claims'];
  readonly key?: string;
  readonly user?: string;
  readonly peer?: Partial<PeerIdentity>;
}

const nobody: PeerIdentity = {
  identity: null,
  spiffeId: null,
  subjectAltNames: [],
  issuer: '',
  subject: '',
  subjectCn: null,
  certificate: '',
};

function principal({ jwt, key, user, peer }: Known): string | null {
  const { request, connection } = targetCall().exchange;
  const tls =
    peer === undefined
      ? null
      : { sni: null, alpn: null, version: 'TLSv1.3', listenerKey: '', peer: { ...nobody, ...peer } };
  const transport = {
    respond() {},
    informational() {},
    takeOver: () => null,
    onClientGone() {},
    closeAfterResponse() {},
  };
  const exchange = new Exchange(request, { ...connection, tls }, transport, null);
  const { attributes } = exchange;
  if (jwt !== undefined) attributes.jwt = { claims: jwt, rawToken: new Secret(String(Math.random())) };
  if (key !== undefined) attributes.apiKey = { key: new Secret(key), place: null, metadata: {} };
  if (user !== undefined) attributes.basicAuth = { username: user };
  return principalOf(exchange);
}

test('a client that the gateway has not authenticated is nobody', () => {
  expect(principal({})).toBeNull();
});

const alice = { iss: 'i', sub: 'alice' };
const certificate = { issuer: 'CN=ca', subject: 'CN=a' };

test.each<[string, Known, Known]>([
  ['a token that was refreshed', { jwt: { ...alice, exp: 1, jti: 'a' } }, { jwt: { ...alice, exp: 2, jti: 'b' } }],
  ['a token, with another key', { jwt: alice, key: 'a' }, { jwt: alice, key: 'b' }],
  ['a token, from behind another proxy', { jwt: alice, peer: certificate }, { jwt: alice }],
  ['a program’s token', { jwt: { iss: 'i', client_id: 'c', exp: 1 } }, { jwt: { iss: 'i', client_id: 'c', exp: 2 } }],
  ['a certificate that was renewed', { peer: certificate }, { peer: { ...certificate, certificate: 'new' } }],
  ['a workload with another certificate', { peer: { spiffeId: 's', subject: 'a' } }, { peer: { spiffeId: 's' } }],
])('%s is the same client', (_what, one, other) => {
  expect(principal(one)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(principal(one)).toBe(principal(other));
});

test.each<[string, Known, Known]>([
  ['another subject', { jwt: alice }, { jwt: { ...alice, sub: 'bob' } }],
  ['another issuer', { jwt: alice }, { jwt: { ...alice, iss: 'j' } }],
  ['another program', { jwt: { iss: 'i', azp: 'a' } }, { jwt: { iss: 'i', azp: 'b' } }],
  ['a subject that is no text', { jwt: { iss: 'i', sub: '1' } }, { jwt: { iss: 'i', sub: 1 } }],
  ['another key', { key: 'a' }, { key: 'b' }],
  ['another user', { user: 'a' }, { user: 'b' }],
  ['a user who is called like a key', { user: 'a' }, { key: 'a' }],
  ['another certificate', { peer: certificate }, { peer: { ...certificate, subject: 'CN=b' } }],
  ['a certificate of another authority', { peer: certificate }, { peer: { ...certificate, issuer: 'CN=x' } }],
  ['another workload', { peer: { spiffeId: 'a' } }, { peer: { spiffeId: 'b' } }],
  ['who leaves the token away', { jwt: alice, key: 'a' }, { key: 'a' }],
])('%s is another client', (_what, one, other) => {
  expect(principal(one)).not.toBe(principal(other));
  expect(principal(other)).not.toBeNull();
});
