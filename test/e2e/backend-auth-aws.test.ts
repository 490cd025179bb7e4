import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { verifySignature, type VendorKeys } from '../proxy/backends/auth/aws-verifier.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const OWN: VendorKeys = { accessKeyId: 'AKOWN', secretAccessKey: 'own/secret+' };
const KEYS = 'accessKeyId: AKOWN, secretAccessKey: own/secret+, region: eu-west-1, serviceName: execute-api';

interface Seen {
  readonly verdict: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // what a request without an encoding yields
  return Buffer.concat(chunks);
}

/** A backend that verifies signatures by the vendor's library. */
async function awsBackend(known: readonly VendorKeys[]) {
  const seen: Seen[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const { method = '', url = '', headers } = request;
    const verdict = await verifySignature({ method, url, headers, body }, (id) =>
      known.find(({ accessKeyId }) => accessKeyId === id),
    );
    seen.push({ verdict, url, headers, body: body.toString() });
    response.writeHead(verdict === 'valid' ? 200 : 403).end(verdict);
  };
  const server = cleanup.add(await upstream((request, response) => void answer(request, response)));
  return { ...server, seen };
}

interface StsCall {
  readonly verdict: string;
  readonly form: Record<string, string>;
}

/** A token service that verifies signatures by the vendor's library, and hands out numbered keys. */
async function sts(options: { known?: readonly VendorKeys[]; ttlMs?: number; answer?: [number, string] } = {}) {
  const calls: StsCall[] = [];
  const { known = [OWN], ttlMs = 3_600_000 } = options;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const { method = '', url = '', headers } = request;
    const form = Object.fromEntries(new URLSearchParams(body.toString()));
    const verdict =
      form['Action'] === 'AssumeRoleWithWebIdentity'
        ? 'valid'
        : await verifySignature({ method, url, headers, body }, (id) =>
            known.find(({ accessKeyId }) => accessKeyId === id),
          );
    calls.push({ verdict, form });
    answerWithKeys(response, { verdict, count: calls.length, ttlMs, fixed: options.answer });
  };
  const server = cleanup.add(await upstream((request, response) => void answer(request, response)));
  return { ...server, calls, env: { AWS_ENDPOINT_URL_STS: `http://127.0.0.1:${server.port}` } };
}

function answerWithKeys(
  response: ServerResponse,
  {
    verdict,
    count,
    ttlMs,
    fixed,
  }: { verdict: string; count: number; ttlMs: number; fixed: [number, string] | undefined },
): void {
  if (fixed !== undefined) {
    response.writeHead(fixed[0]).end(fixed[1]);
    return;
  }
  if (verdict !== 'valid') {
    response.writeHead(403).end('<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code></Error></ErrorResponse>');
    return;
  }
  const end = new Date(Date.now() + ttlMs).toISOString();
  const { accessKeyId, secretAccessKey, sessionToken } = roleKeys(count);
  response.end(
    `<R xmlns="x"><AssumeRoleResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${(sessionToken ?? '').replaceAll('&', '&amp;')}</SessionToken><Expiration>${end}</Expiration></Credentials></AssumeRoleResult></R>`,
  );
}

function roleKeys(count: number): VendorKeys {
  return { accessKeyId: `ASIA${count}`, secretAccessKey: `role${count}/+=`, sessionToken: `token${count}&+/=` };
}

const ROLES = Array.from({ length: 10 }, (_each, index) => roleKeys(index));

async function gateway(port: number, aws: string, options: { env?: Record<string, string>; route?: string } = {}) {
  const running = cleanup.add(
    await startGateway(
      `
gateways: {default: {port: 80}}
frontendPolicies: {http: {maxBufferSize: 1000}}
routes:
- policies: {${options.route ?? ''}}
  backends: [{host: "127.0.0.1:${port}", policies: {backendAuth: {aws: {${aws}}}}}]
`,
      options.env === undefined ? {} : { env: options.env },
    ),
  );
  return { ...running, http: running.port(80) };
}

describe('a request that is signed with keys of the file', () => {
  test.each([
    ['GET', '/', undefined],
    ['GET', "/a%20b//../c/%C3%BC'()*?b=2&a=1&b=1&empty&plus=a+b%2B", undefined],
    ['POST', '/model/x%3A0/invoke', '{"prompt":"ü"}'],
    ['PUT', '/x', ''],
  ])('%s %s is verified', async (method, path, body) => {
    const backend = await awsBackend([OWN]);
    const { http } = await gateway(backend.port, KEYS);
    const headers = { 'content-type': 'application/json', 'x-amz-meta-a': ' a  b ', 'x-other': 'c' };
    const answer = await ask(http, path, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.body).toBe('valid');
    expect(backend.seen[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKOWN\/\d{8}\/eu-west-1\/execute-api\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-meta-a, /,
    );
  });

  test('is signed last: over the path, the headers and the host as they leave', async () => {
    const backend = await awsBackend([OWN]);
    const { http } = await gateway(backend.port, `${KEYS}`, {
      route:
        'urlRewrite: {path: {prefix: /new}, authority: {full: api.internal}}, requestHeaderModifier: {set: {x-amz-target: T}}',
    });
    const answer = await ask(http, '/old', {
      headers: { authorization: 'Bearer mine', 'x-amz-security-token': 'mine' },
    });
    expect(answer.body).toBe('valid');
    const [seen] = backend.seen;
    expect([seen?.url, seen?.headers.host, seen?.headers['x-amz-target']]).toEqual(['/new/old', 'api.internal', 'T']);
    expect(seen?.headers['x-amz-security-token']).toBeUndefined();
  });

  test('carries the token of the session', async () => {
    const keys = { ...OWN, sessionToken: 'sess+/=' };
    const backend = await awsBackend([keys]);
    const { http } = await gateway(backend.port, `${KEYS}, sessionToken: sess+/=`);
    expect((await ask(http, '/')).body).toBe('valid');
  });

  test('sends a body of unknown length as a whole, and none that is larger than the buffer', async () => {
    const backend = await awsBackend([OWN]);
    const { http } = await gateway(backend.port, KEYS);
    const headers = { 'transfer-encoding': 'chunked' };
    expect((await ask(http, '/', { method: 'POST', headers, body: 'x'.repeat(1000) })).body).toBe('valid');
    expect(backend.seen[0]?.headers['content-length']).toBe('1000');
    const answer = await ask(http, '/', { method: 'POST', headers, body: 'x'.repeat(1001) });
    expect([answer.status, backend.seen.length]).toEqual([413, 1]);
  });

  test('is signed anew for each attempt', async () => {
    const backend = await awsBackend([]);
    const { http } = await gateway(backend.port, KEYS, { route: 'retry: {attempts: 2, codes: [403]}' });
    await ask(http, '/', { method: 'POST', body: 'x' });
    expect(backend.seen.map(({ headers, body }) => [headers['x-retry-attempt'], body])).toEqual([
      [undefined, 'x'],
      ['1', 'x'],
      ['2', 'x'],
    ]);
    expect(backend.seen.every(({ headers }) => headers.authorization?.startsWith('AWS4'))).toBe(true);
  });

  test('shows neither keys nor signature to those who watch', async () => {
    const keys = { ...OWN, sessionToken: 'sessiontoken' };
    const backend = await awsBackend([keys]);
    const running = await gateway(backend.port, `${KEYS}, sessionToken: sessiontoken`);
    const watch = cleanup.add(await TraceWatch.open(running.admin));
    expect((await ask(running.http, '/')).status).toBe(200);
    const text = await watch.finished();
    expect(text).toContain('signature for execute-api in eu-west-1');
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    for (const shown of [text, dump]) {
      expect(shown).not.toMatch(/own\/secret|sessiontoken|Signature=/);
    }
  });
});

describe('keys of the environment', () => {
  const env = { AWS_ACCESS_KEY_ID: 'AKOWN', AWS_SECRET_ACCESS_KEY: 'own/secret+', AWS_REGION: 'us-east-2' };

  test('are those of its variables, with its region', async () => {
    const backend = await awsBackend([OWN]);
    const { http } = await gateway(backend.port, '', { env });
    expect((await ask(http, '/')).body).toBe('valid');
    expect(backend.seen[0]?.headers.authorization).toContain('/us-east-2/bedrock/aws4_request');
  });

  test('reach worker threads', async () => {
    const backend = await awsBackend([OWN]);
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: {aws: {}}}}]}]\n`,
        { env, threads: 1 },
      ),
    );
    expect((await ask(running.port(80), '/')).body).toBe('valid');
  });

  test('of a workload are asked for with its token, once for many requests', async () => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts();
    const folder = mkdtempSync(join(tmpdir(), 'aws-'));
    cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
    writeFileSync(join(folder, 'token'), 'the-token\n');
    const { http } = await gateway(backend.port, 'region: eu-west-1', {
      env: {
        ...tokens.env,
        AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/r',
      },
    });
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(http, '/')));
    expect(answers.map(({ body }) => body)).toEqual(['valid', 'valid', 'valid', 'valid']);
    expect(tokens.calls.map(({ form }) => form)).toEqual([
      {
        Action: 'AssumeRoleWithWebIdentity',
        Version: '2011-06-15',
        RoleArn: 'arn:aws:iam::123456789012:role/r',
        RoleSessionName: 'gwctl',
        WebIdentityToken: 'the-token',
      },
    ]);
  });

  test('of a container are those of its endpoint', async () => {
    const backend = await awsBackend(ROLES);
    const container = cleanup.add(
      await upstream((request, response) => {
        const { accessKeyId, secretAccessKey, sessionToken } = roleKeys(1);
        if (request.headers.authorization !== 'secret token') response.writeHead(401).end();
        else
          response.end(
            JSON.stringify({ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken }),
          );
      }),
    );
    const { http } = await gateway(backend.port, 'region: eu-west-1', {
      env: {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${container.port}/creds`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'secret token',
      },
    });
    expect((await ask(http, '/')).body).toBe('valid');
  });

  test('of a machine are those of its role', async () => {
    const backend = await awsBackend(ROLES);
    const machine = cleanup.add(
      await upstream((request, response) => {
        const { accessKeyId, secretAccessKey, sessionToken } = roleKeys(2);
        if (request.method === 'PUT') response.end('t');
        else if (request.headers['x-aws-ec2-metadata-token'] !== 't') response.writeHead(401).end();
        else if (request.url?.endsWith('/security-credentials/') === true) response.end('the-role');
        else if (request.url?.endsWith('/security-credentials/the-role') === true)
          response.end(
            JSON.stringify({ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken }),
          );
        else response.writeHead(404).end();
      }),
    );
    const { http } = await gateway(backend.port, 'region: eu-west-1', {
      env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: `http://127.0.0.1:${machine.port}/` },
    });
    expect((await ask(http, '/')).body).toBe('valid');
  });

  test('that are nowhere fail the request, and no backend is called', async () => {
    const backend = await awsBackend([]);
    const running = await gateway(backend.port, 'region: eu-west-1', { env: { AWS_EC2_METADATA_DISABLED: 'true' } });
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body, answer.headers['x-gw-reason']]).toEqual([
      500,
      'backend authentication failed: the environment has no AWS credentials',
      'Internal',
    ]);
    expect(backend.seen).toEqual([]);
    await running.logged('backend authentication failed', 'backend-auth');
  });

  test('without a region are a configuration error', async () => {
    await expect(gateway(1, '', { env: {} })).rejects.toThrow('no region is set');
  });
});

describe('a role', () => {
  const env = { AWS_ACCESS_KEY_ID: 'AKOWN', AWS_SECRET_ACCESS_KEY: 'own/secret+', AWS_REGION: 'us-east-2' };
  const ROLE = 'roleArn: "arn:aws:iam::123456789012:role/r"';

  test('is taken on by a signed call, with its session name and tags', async () => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts();
    const { http } = await gateway(
      backend.port,
      `assumeRole: {${ROLE}, sessionName: gw-1, tags: [{key: team, value: red}, {key: user, expression: 'request.headers["x-user"]'}]}`,
      { env: { ...env, ...tokens.env } },
    );
    expect((await ask(http, '/', { headers: { 'x-user': 'alice' } })).body).toBe('valid');
    expect(tokens.calls).toEqual([
      {
        verdict: 'valid',
        form: {
          Action: 'AssumeRole',
          Version: '2011-06-15',
          RoleArn: 'arn:aws:iam::123456789012:role/r',
          RoleSessionName: 'gw-1',
          'Tags.member.1.Key': 'team',
          'Tags.member.1.Value': 'red',
          'Tags.member.2.Key': 'user',
          'Tags.member.2.Value': 'alice',
        },
      },
    ]);
  });

  test('is remembered by its name and tags', async () => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts();
    const { http } = await gateway(
      backend.port,
      `assumeRole: {${ROLE}, sessionName: {expression: 'request.headers["x-user"]'}}`,
      { env: { ...env, ...tokens.env } },
    );
    for (const user of ['alice', 'bob', 'alice', 'bob'])
      expect((await ask(http, '/', { headers: { 'x-user': user } })).body).toBe('valid');
    expect(tokens.calls.map(({ form }) => form['RoleSessionName'])).toEqual(['alice', 'bob']);
  });

  test('is taken on again when its keys are about to end', async () => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts({ ttlMs: 9000 });
    const { http } = await gateway(backend.port, `assumeRole: {${ROLE}}`, { env: { ...env, ...tokens.env } });
    for (let n = 0; n < 2; n++) expect((await ask(http, '/')).body).toBe('valid');
    expect(tokens.calls).toHaveLength(2);
  });

  test.each([
    ['an expression that fails', undefined],
    ['a name that AWS does not take', 'not a name!'],
  ])('is not taken on with %s', async (_name, user) => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts();
    const { http } = await gateway(
      backend.port,
      `assumeRole: {${ROLE}, sessionName: {expression: 'request.headers["x-user"]'}}`,
      { env: { ...env, ...tokens.env } },
    );
    const answer = await ask(http, '/', user === undefined ? {} : { headers: { 'x-user': user } });
    expect([answer.status, tokens.calls.length, backend.seen.length]).toEqual([500, 0, 0]);
  });

  test.each<[string, [number, string], string]>([
    [
      'refuses',
      [403, '<E><Code>AccessDenied</Code><Message>own secrets</Message></E>'],
      'STS answered 403 (AccessDenied)',
    ],
    ['fails without XML', [500, 'oops'], 'STS answered 500'],
    ['gives no keys', [200, '<X/>'], 'STS answered without keys'],
    [
      'gives keys without an end',
      [200, '<AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken>'],
      'STS answered without keys',
    ],
    ['answers without end', [200, 'x'.repeat(1_100_000)], '127.0.0.1 does not answer'],
  ])('that STS %s for is told, and asked for again', async (_name, fixed, message) => {
    const backend = await awsBackend(ROLES);
    const tokens = await sts({ answer: fixed });
    const { http } = await gateway(backend.port, `assumeRole: {${ROLE}}`, { env: { ...env, ...tokens.env } });
    for (let n = 0; n < 2; n++) {
      const answer = await ask(http, '/');
      expect([answer.status, answer.body]).toEqual([500, `backend authentication failed: ${message}`]);
    }
    expect([tokens.calls.length, backend.seen.length]).toEqual([2, 0]);
  });

  test('is waited for no longer than the request may take', async () => {
    const silent = cleanup.add(await upstream(() => {}));
    const backend = await awsBackend(ROLES);
    const { http } = await gateway(backend.port, `assumeRole: {${ROLE}}`, {
      env: { ...env, AWS_ENDPOINT_URL: `http://127.0.0.1:${silent.port}` },
      route: 'timeout: {requestTimeout: 80ms}',
    });
    const answer = await ask(http, '/');
    expect([answer.status, answer.body]).toEqual([504, 'request timeout']);
  });
});
