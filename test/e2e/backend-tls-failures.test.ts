/** What a client, the log and somebody who watches learn of a backend whose TLS cannot be trusted or agreed on. */
import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { TlsOptions } from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import { fixture, fixturePath, tcpUpstream } from './clients.ts';
import { ask, Cleanup, echo, startGateway } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function listening(server: Server): Promise<number> {
  server.on('tlsClientError', () => {}).on('sessionError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add(server);
  // `as`: a TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}

const pair = (name: string) => ({ cert: fixture(`${name}.crt`), key: fixture(`${name}.key`) });
const https = (name = 'a', options: TlsOptions = {}) =>
  listening(createHttpsServer({ ...pair(name), ...options }, echo));
const http2 = (name = 'a', options: TlsOptions = {}) =>
  listening(
    createSecureServer({ ...pair(name), ...options }, (_request, response) => {
      response.end('h2');
    }),
  );
const wantsClients: TlsOptions = { requestCert: true, rejectUnauthorized: true, ca: fixture('client-ca.crt') };

const ROOT = `root: ${fixturePath('ca.crt')}`;
const NAMED = `${ROOT}, hostname: a.example.com`;

async function asked(port: number, policies: string) {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${port}", policies: {${policies}}}]}]\n`,
    ),
  );
  const watch = cleanup.add(await TraceWatch.open(running.admin));
  const trace = watch.finished();
  const answer = await ask(running.port(80), '/');
  return { answer, log: await running.logged('http.status'), trace: await trace };
}

interface Case {
  readonly backend: () => Promise<number>;
  readonly tls: string;
  /** What the client and the log are told. */
  readonly told: string;
  /** What only somebody who watches is told. */
  readonly seen?: string;
}

const unverified = (why: string) => `certificate verification failed: ${why}`;

const failures: readonly (readonly [name: string, Case])[] = [
  ['is expired', { backend: () => https('expired'), tls: NAMED, told: unverified('it has expired') }],
  [
    'is expired, though its name does not matter',
    {
      backend: () => https('expired'),
      tls: `${NAMED}, insecureHost: true`,
      told: unverified('it has expired'),
    },
  ],
  [
    'is expired, when both ways to be insecure are on: the stricter one holds',
    {
      backend: () => https('expired'),
      tls: `${NAMED}, insecure: true, insecureHost: true`,
      told: unverified('it has expired'),
    },
  ],
  ['is of the future', { backend: () => https('future'), tls: NAMED, told: unverified('it is not yet valid') }],
  [
    'is of another name',
    {
      backend: () => https('b'),
      tls: NAMED,
      told: unverified('it was issued for another name'),
      seen: 'DNS:b.example.com',
    },
  ],
  [
    'has none of the wanted names',
    {
      backend: () => https('a'),
      tls: `${NAMED}, subjectAltNames: ["spiffe://a/b"]`,
      told: unverified('it was issued for another name'),
      seen: 'spiffe://a/b',
    },
  ],
  [
    'is of an authority that is not the given one',
    {
      backend: () => https('a'),
      tls: `root: ${fixturePath('client-ca.crt')}, hostname: a.example.com`,
      told: unverified('it was issued by an unknown authority'),
      seen: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    },
  ],
  [
    'is of an authority that the system does not know',
    {
      backend: () => https('a'),
      tls: 'hostname: a.example.com',
      told: unverified('it was issued by an unknown authority'),
    },
  ],
  [
    'is its own authority',
    {
      backend: () => https('stranger'),
      tls: `${ROOT}, hostname: stranger`,
      told: unverified('it is self-signed'),
      seen: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    },
  ],
];

const disagreements: readonly (readonly [name: string, Case])[] = [
  [
    'wants a client certificate, over TLS 1.3',
    { backend: () => https('a', wantsClients), tls: NAMED, told: 'the backend requires a client certificate' },
  ],
  [
    'wants a client certificate, over HTTP/2',
    { backend: () => http2('a', wantsClients), tls: NAMED, told: 'the backend requires a client certificate' },
  ],
  [
    'wants a client certificate, over TLS 1.2',
    {
      backend: () => https('a', { ...wantsClients, maxVersion: 'TLSv1.2' }),
      tls: NAMED,
      told: 'TLS handshake failed (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)',
    },
  ],
  [
    'knows only TLS 1.1',
    {
      backend: () => https('a', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
      tls: NAMED,
      told: 'the backend speaks no TLS from version 1.2 on',
    },
  ],
  [
    'speaks HTTP in plaintext',
    {
      backend: async () =>
        cleanup.add(
          await tcpUpstream((socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))),
        ).port,
      tls: NAMED,
      told: 'the backend does not speak TLS',
    },
  ],
  [
    'answers with what is no handshake',
    {
      backend: async () =>
        cleanup.add(await tcpUpstream((socket) => socket.resume().write('\u0016\u0003\u0001\u0000\u0005hello'))).port,
      tls: NAMED,
      told: 'TLS handshake failed (ERR_SSL_UNEXPECTED_MESSAGE)',
    },
  ],
  [
    'hangs up',
    {
      backend: async () => cleanup.add(await tcpUpstream((socket) => socket.destroy())).port,
      tls: NAMED,
      told: 'connection closed during the TLS handshake',
    },
  ],
  [
    'has none of the protocols',
    {
      backend: () => https('a'),
      tls: `${NAMED}, alpn: [h2]`,
      told: 'the backend accepts none of the offered protocols (ALPN)',
    },
  ],
];

async function expectFailure({ backend, tls, told, seen }: Case): Promise<void> {
  const { answer, log, trace } = await asked(await backend(), `backendTLS: {${tls}}`);
  expect([answer.status, answer.headers['x-gw-reason'], answer.body]).toEqual([
    503,
    'UpstreamFailure',
    `upstream call failed: ${told}`,
  ]);
  expect(log).toContain(`error="upstream call failed: ${told}" reason=UpstreamFailure`);
  expect(trace).toContain(told);
  // The details are for those who watch.
  expect(trace).toContain(seen ?? told);
  expect(seen === undefined || !(answer.body + log).includes(seen)).toBe(true);
  // Neither the source files of OpenSSL nor advice about Node's command line are for anybody here.
  expect(answer.body + log + trace).not.toMatch(/openssl\/|--use-system-ca/);
}

describe('a call fails when the certificate of the backend', () => {
  test.each(failures)('%s', (_name, failure) => expectFailure(failure));
});

describe('a call fails with a backend that', () => {
  test.each(disagreements)('%s', (_name, failure) => expectFailure(failure));
});

test.each([
  ['tcp: {connectTimeout: 80ms}', 'no connection within 80 ms'],
  ['http: {requestTimeout: 80ms}', 'upstream call timeout'],
])('a backend that never answers the handshake is given up with %s', async (policy, seen) => {
  const silent = cleanup.add(await tcpUpstream((socket) => socket.resume()));
  const { answer, trace } = await asked(silent.port, `backendTLS: {${NAMED}}, ${policy}`);
  expect([answer.status, answer.headers['x-gw-reason'], answer.body]).toEqual([
    504,
    'Timeout',
    'upstream call timeout',
  ]);
  expect(trace).toContain(seen);
});

test.each([
  ['an expired certificate with insecure', 'expired', `${NAMED}, insecure: true`],
  ['another name with insecureHost', 'b', `${NAMED}, insecureHost: true`],
  ['another name that is one of subjectAltNames', 'b', `${NAMED}, subjectAltNames: [c.example.com, B.example.com]`],
  ['a certificate that is its own root', 'stranger', `root: ${fixturePath('stranger.crt')}, hostname: stranger`],
])('%s is taken', async (_name, certificate, tls) => {
  const { answer } = await asked(await https(certificate), `backendTLS: {${tls}}`);
  expect(answer.status).toBe(200);
});
