import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import { createServer as createTlsServer, type PeerCertificate, type TLSSocket } from 'node:tls';

import { compileBackendTls, TlsContexts } from '../../../proxy/backends/origin-tls.ts';
import { explainFailure } from '../../../proxy/backends/refusal.ts';
import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { parseSubjectAltNames, verifyPeer } from '../../../proxy/backends/verify-peer.ts';
import type { BackendTls } from '../../../src/config/ir/index.ts';
import { Secret } from '../../../src/shared/secret.ts';
import { fetchText, originOf, pem, requestTo, Rig, type OriginChoice } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

const root = { pem: pem('ca.crt'), file: 'ca.crt' };
const full: BackendTls = { verify: 'full', root, hostname: 'a.example.com' };

function identity(name: string): ServerOptions {
  return { cert: pem(`${name}.crt`), key: pem(`${name}.key`) };
}

function httpsServer(options: ServerOptions = identity('a')): Promise<number> {
  return rig.listen(
    createServer(options, (request, response) => {
      const socket = request.socket as TLSSocket;
      const { CN } = socket.authorized ? socket.getPeerCertificate().subject : { CN: 'nobody' };
      response.end(`${'servername' in socket ? String(socket.servername) : ''} ${String(CN)}`);
    }),
  );
}

async function failure(port: number, tls: BackendTls, choice: OriginChoice = {}): Promise<UpstreamError> {
  const error: unknown = await fetchText(rig.pools(), originOf(port, { ...choice, tls })).then(
    (text) => new Error(`did not fail: ${text}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof UpstreamError) return error;
  throw error;
}

describe('TLS to a backend', () => {
  test('verifies the chain and the name, and sends the name', async () => {
    const port = await httpsServer();
    expect(await fetchText(rig.pools(), originOf(port, { tls: full }))).toBe('200 a.example.com nobody');
  });

  test('refuses a certificate of another name', async () => {
    const error = await failure(await httpsServer(identity('b')), full);
    expect([error.kind, error.message]).toEqual([
      'tls',
      'certificate verification failed: it was issued for another name',
    ]);
  });

  test('refuses a certificate of another authority, and of the system when no root is given', async () => {
    expect((await failure(await httpsServer(identity('stranger')), full)).kind).toBe('tls');
    expect((await failure(await httpsServer(), { verify: 'full', hostname: 'a.example.com' })).kind).toBe('tls');
  });

  test('verifies an IP literal against the certificate, and sends no name for it', async () => {
    expect(explainFailure(await failure(await httpsServer(), { verify: 'full', root }))).toContain('127.0.0.1');
    const text = await fetchText(rig.pools(), originOf(await httpsServer(), { tls: { verify: 'chain', root } }));
    expect(text).toBe('200 false nobody');
  });

  test('leaves the name out with chain, and everything with none', async () => {
    const port = await httpsServer(identity('b'));
    expect(await fetchText(rig.pools(), originOf(port, { tls: { ...full, verify: 'chain' } }))).toContain('200');
    expect((await failure(await httpsServer(identity('stranger')), { ...full, verify: 'chain' })).kind).toBe('tls');
    const stranger = await httpsServer(identity('stranger'));
    expect(await fetchText(rig.pools(), originOf(stranger, { tls: { verify: 'none' } }))).toContain('200');
  });

  test('takes subjectAltNames instead of the name, URIs and wildcards among them', async () => {
    const spiffe = await httpsServer(identity('client'));
    const clientRoot = { pem: pem('client-ca.crt') };
    const wanted: BackendTls = {
      verify: 'full',
      root: clientRoot,
      subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/checkout'],
    };
    expect(await fetchText(rig.pools(), originOf(spiffe, { tls: wanted }))).toContain('200');
    const other = { ...wanted, subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/other'] };
    expect(explainFailure(await failure(spiffe, other))).toContain('none of the wanted subjectAltNames');
    const wildcard = await httpsServer(identity('wildcard'));
    const named: BackendTls = { verify: 'full', root, subjectAltNames: ['x.wild.example.com'] };
    expect(await fetchText(rig.pools(), originOf(wildcard, { tls: named }))).toContain('200');
    expect((await failure(wildcard, { ...named, subjectAltNames: ['a.b.wild.example.com'] })).kind).toBe('tls');
  });

  test('shows a client certificate', async () => {
    const port = await httpsServer({
      ...identity('a'),
      ca: pem('client-ca.crt'),
      requestCert: true,
      rejectUnauthorized: true,
    });
    const tls: BackendTls = {
      ...full,
      cert: { pem: pem('client.crt') },
      key: { pem: new Secret(pem('client.key')) },
    };
    expect(await fetchText(rig.pools(), originOf(port, { tls }))).toBe('200 a.example.com checkout');
  });

  test('says that a plaintext backend does not speak TLS', async () => {
    const port = await rig.raw((socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect((await failure(port, full)).message).toBe('the backend does not speak TLS');
  });

  test('reports a connection that ends in the handshake', async () => {
    const port = await rig.raw((socket) => socket.once('data', () => socket.destroy()));
    const error = await failure(port, full);
    expect([error.kind, error.message]).toEqual(['tls', 'connection closed during the TLS handshake']);
  });

  test('agrees on a key exchange group of the list only', async () => {
    const port = await httpsServer({ ...identity('a'), ecdhCurve: 'P-384' });
    expect((await failure(port, { ...full, keyExchangeGroups: ['X25519'] })).kind).toBe('tls');
    const tls: BackendTls = { ...full, keyExchangeGroups: ['X25519', 'P-384'] };
    expect(await fetchText(rig.pools(), originOf(port, { tls }))).toContain('200');
  });
});

describe('ALPN', () => {
  function both(seen: string[]): Promise<number> {
    const server = createSecureServer({ ...identity('a'), allowHTTP1: true }, (request, response) => {
      response.end(request.httpVersion);
    });
    server.on('secureConnection', (socket: TLSSocket) => seen.push(String(socket.alpnProtocol)));
    return rig.listen(server);
  }

  test('chooses the version of an origin that forces none; callers share the connection that learns it', async () => {
    const seen: string[] = [];
    const origin = originOf(await both(seen), { tls: full });
    const pools = rig.pools();
    const texts = await Promise.all([1, 2, 3].map(() => fetchText(pools, origin)));
    expect([texts, seen]).toEqual([['200 2.0', '200 2.0', '200 2.0'], ['h2']]);
  });

  test('offers only what a forced version needs', async () => {
    const seen: string[] = [];
    const port = await both(seen);
    const origin = originOf(port, { tls: full, http: { version: 'HTTP/1.1' } });
    expect(await fetchText(rig.pools(), origin)).toBe('200 1.1');
    expect(seen).toEqual(['http/1.1']);
  });

  test('falls back to HTTP/1.1 with a backend that knows no other', async () => {
    const port = await httpsServer();
    const pools = rig.pools();
    const texts = await Promise.all([1, 2, 3].map(() => fetchText(pools, originOf(port, { tls: full }))));
    expect(texts).toEqual(Array.from({ length: 3 }, () => '200 a.example.com nobody'));
  });

  test('fails clearly when HTTP/2 is forced on a backend that does not have it', async () => {
    const server = createTlsServer({ ...identity('a'), ALPNProtocols: ['http/1.1'] });
    const error = await failure(await rig.listen(server), full, { http: { version: 'HTTP/2.0' } });
    expect([error.kind, error.message]).toEqual(['tls', 'the backend accepts none of the offered protocols (ALPN)']);
  });

  test('is HTTP/1.1 for an upgrade, whatever other calls use', async () => {
    const seen: string[] = [];
    const origin = originOf(await both(seen), { tls: full });
    const pools = rig.pools();
    await fetchText(pools, origin);
    const response = await pools.send(origin, requestTo('/', { upgrade: 'echo' })).response;
    response.body.cancel();
    expect(seen).toEqual(['h2', 'http/1.1']);
  });

  test('is not offered by a tunnel', async () => {
    const seen: string[] = [];
    const tunnel = await rig
      .pools()
      .openTunnel({ ...originOf(await both(seen), { tls: full }), tls: { ...tlsOf(full), alpn: [] } });
    const greeted = once(tunnel, 'close');
    tunnel.end();
    await greeted;
    expect(seen).toEqual(['false']);
  });
});

function tlsOf(tls: BackendTls): ReturnType<typeof compileBackendTls> {
  return compileBackendTls(tls, 'a.example.com', new TlsContexts());
}

describe('unusable TLS settings name the file at fault', () => {
  const key = { pem: new Secret(pem('a.key')), file: 'a.key' };
  const cert = { pem: pem('a.crt'), file: 'a.crt' };
  const cases: [string, BackendTls, string][] = [
    ['cert without key', { verify: 'full', cert }, 'backendTLS has a cert but no key'],
    ['key without cert', { verify: 'full', key }, 'backendTLS has a key but no cert'],
    [
      'a key of another certificate',
      { verify: 'full', key, cert: { pem: pem('b.crt'), file: 'b.crt' } },
      'backendTLS: a.key is not the key of b.crt',
    ],
    [
      'a broken certificate',
      { verify: 'full', key, cert: { pem: 'x', file: 'x.crt' } },
      'backendTLS: x.crt is not a certificate in PEM form',
    ],
    [
      'a broken key',
      { verify: 'full', cert, key: { pem: new Secret('sesame'), file: 'x.key' } },
      'backendTLS: x.key is not a private key in PEM form',
    ],
    [
      'an empty root',
      { verify: 'full', root: { pem: '', file: 'roots.pem' } },
      'backendTLS: roots.pem holds no PEM certificate',
    ],
  ];

  test.each(cases)('%s', (_name, tls, message) => {
    expect(() => tlsOf(tls)).toThrow(message);
  });

  test('a unix socket has no name to verify', () => {
    expect(() => compileBackendTls({ verify: 'full', root }, undefined, new TlsContexts())).toThrow(
      'no name to verify',
    );
    expect(compileBackendTls({ verify: 'chain', root }, undefined, new TlsContexts()).servername).toBeUndefined();
  });
});

describe('addresses among the subjectAltNames', () => {
  const certificate = {
    subjectaltname: 'DNS:10.0.0.9, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1',
  } as PeerCertificate; // all that is looked at
  const problem = (wanted: string): Error | undefined =>
    verifyPeer({ ...tlsOf(full), subjectAltNames: [wanted] }, certificate);

  test.each(['10.0.0.1', '2001:db8::1', '2001:0DB8:0::1'])('%s is found in any spelling', (wanted) => {
    expect(problem(wanted)).toBeUndefined();
  });

  test.each(['10.0.0.2', '2001:db8::2', '10.0.0.1.example'])('%s is not', (wanted) => {
    expect(problem(wanted)?.message).toContain('none of the wanted subjectAltNames');
  });
});

describe('subjectAltName lists', () => {
  test('are split at commas outside of quotes', () => {
    const text = 'DNS:a.test, URI:"spiffe://a/b\\u002c DNS:evil.test", IP Address:10.0.0.1';
    expect(parseSubjectAltNames(text)).toEqual([
      { kind: 'DNS', value: 'a.test' },
      { kind: 'URI', value: 'spiffe://a/b, DNS:evil.test' },
      { kind: 'IP Address', value: '10.0.0.1' },
    ]);
  });

  test.each(['', 'DNS', 'DNS:', 'URI:"unclosed, DNS:x'])('%j is read without harm', (text) => {
    expect(parseSubjectAltNames(text).some((name) => name.value === 'x')).toBe(text.endsWith('x'));
  });
});
