import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';
import { jwtVerify, UnsecuredJWT } from 'jose';

import { type Answer, ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { answering, type TokenEndpoint, tokenEndpoint } from './token-endpoint.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A backend that tells which token came. */
async function gateway(
  auth: string,
  env: Record<string, string>,
  options: { policies?: string; route?: string; threads?: number; host?: string } = {},
) {
  const backend = cleanup.add(
    await upstream((request, response) => response.end(request.headers.authorization ?? 'nothing')),
  );
  const { policies = '', route = '', threads, host = '127.0.0.1' } = options;
  const running = cleanup.add(
    await startGateway(
      `
gateways: {default: {port: 80}}
routes:
- policies: {${route}}
  backends:
  - host: "${host}:${backend.port}"
    policies: {backendAuth: ${auth}${policies === '' ? '' : `, ${policies}`}}
`,
      { env: { CLOUDSDK_CONFIG: '/nowhere', ...env }, ...(threads === undefined ? {} : { threads }) },
    ),
  );
  const call = (headers: Record<string, string> = {}): Promise<Answer> => ask(running.port(80), '/', { headers });
  return { ...running, call };
}

function fileWith(text: string, name = 'file'): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-'));
  cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function asked(
  { calls }: TokenEndpoint,
  index = 0,
): { line: string; form: Record<string, string>; query: Record<string, string> } {
  const { method = '', url = '', form = [] } = calls[index] ?? {};
  const { pathname, searchParams } = new URL(url, 'http://x');
  return { line: `${method} ${pathname}`, form: Object.fromEntries(form), query: Object.fromEntries(searchParams) };
}

const failure = (why: string): unknown[] => [500, `backend authentication failed: ${why}`];
const ofAnswer = ({ status, body }: Answer): unknown[] => [status, body];

describe('Azure, by a client secret', () => {
  const auth = `{azure: {explicitConfig: {clientSecret: {tenant_id: t-1, client_id: c&1, client_secret: "s e&cret-of-azure"}}}}`;

  test('asks Entra ID for a token of the model services, once for many requests', async () => {
    const entra = await tokenEndpoint(cleanup);
    const { call } = await gateway(auth, { AZURE_AUTHORITY_HOST: `${entra.origin}/` });
    const answers = await Promise.all([call(), call(), call()]);
    expect(answers.map(({ body }) => body)).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
    expect((await call()).body).toBe('Bearer token-1');
    expect(entra.calls).toHaveLength(1);
    expect(asked(entra)).toMatchObject({
      line: 'POST /t-1/oauth2/v2.0/token',
      form: {
        grant_type: 'client_credentials',
        client_id: 'c&1',
        client_secret: 's e&cret-of-azure',
        scope: 'https://cognitiveservices.azure.com/.default',
      },
    });
  });

  test('asks for a token of Foundry for its hosts, whatever the client calls itself', async () => {
    const entra = await tokenEndpoint(cleanup);
    const { call } = await gateway(
      auth,
      { AZURE_AUTHORITY_HOST: entra.origin },
      { route: 'urlRewrite: {authority: {full: a.services.ai.azure.com}}' },
    );
    await call({ host: 'a.openai.azure.com' });
    expect(asked(entra).form['scope']).toBe('https://ai.azure.com/.default');
    const other = await gateway(auth, { AZURE_AUTHORITY_HOST: entra.origin });
    await other.call({ host: 'a.services.ai.azure.com' });
    expect(asked(entra, 1).form['scope']).toBe('https://cognitiveservices.azure.com/.default');
  });

  test('works in worker threads', async () => {
    const entra = await tokenEndpoint(cleanup);
    const { call } = await gateway(auth, { AZURE_AUTHORITY_HOST: entra.origin }, { threads: 1 });
    expect((await call()).body).toBe('Bearer token-1');
  });

  test.each([
    [
      '401',
      answering(401, { error: 'invalid_client', error_description: 'AADSTS7000215: not s e&cret-of-azure' }),
      'Microsoft Entra ID answered 401',
    ],
    ['a page', answering(200, '<html>'), 'Microsoft Entra ID did not answer with a JSON object'],
    ['no token', answering(200, {}), 'Microsoft Entra ID gave no token'],
    ['a huge answer', answering(200, { access_token: 'x'.repeat(2_000_000) }), '127.0.0.1 does not answer'],
  ] as const)('fails on %s, and shows nobody its secret', async (_name, answer, why) => {
    const entra = await tokenEndpoint(cleanup, answer);
    const running = await gateway(auth, { AZURE_AUTHORITY_HOST: entra.origin });
    const watch = cleanup.add(await TraceWatch.open(running.admin));
    expect(ofAnswer(await running.call())).toEqual(failure(why));
    const trace = await watch.finished();
    await running.logged('backend-auth', why);
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    for (const shown of [trace, dump, ...running.log]) expect(shown).not.toContain('cret-of-azure');
    entra.answer = () => ({ access_token: 'good', expires_in: 3600 });
    expect((await running.call()).body).toBe('Bearer good');
  });

  test('takes a token again that is about to end', async () => {
    let count = 0;
    const entra = await tokenEndpoint(cleanup, () => ({
      access_token: `t${++count}`,
      expires_in: count === 1 ? 10 : 3600,
    }));
    const { call } = await gateway(auth, { AZURE_AUTHORITY_HOST: entra.origin });
    expect([(await call()).body, (await call()).body, (await call()).body]).toEqual([
      'Bearer t1',
      'Bearer t2',
      'Bearer t2',
    ]);
  });

  test('needs a tenant that can stand in a path', async () => {
    await expect(gateway(auth.replace('t-1', 'a/b'), {})).rejects.toThrow('expected the id or a domain of a tenant');
  });
});

describe('Azure, by a workload identity', () => {
  test('shows the token of the workload', async () => {
    const entra = await tokenEndpoint(cleanup);
    const env = {
      AZURE_AUTHORITY_HOST: entra.origin,
      AZURE_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_FEDERATED_TOKEN_FILE: fileWith('the.workload.token\n'),
    };
    const { call } = await gateway('{azure: {explicitConfig: {workloadIdentity: {}}}}', env);
    expect((await call()).body).toBe('Bearer token-1');
    expect(asked(entra)).toMatchObject({
      line: 'POST /t/oauth2/v2.0/token',
      form: {
        grant_type: 'client_credentials',
        client_id: 'c',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: 'the.workload.token',
        scope: 'https://cognitiveservices.azure.com/.default',
      },
    });
  });

  test('fails where the environment has none', async () => {
    const { call } = await gateway('{azure: {explicitConfig: {workloadIdentity: {}}}}', {});
    expect(ofAnswer(await call())).toEqual(
      failure('the environment has no Azure workload identity: AZURE_TENANT_ID is not set'),
    );
  });
});

describe('Azure, by a managed identity', () => {
  const auth = (assigned = ''): string => `{azure: {explicitConfig: {managedIdentity: {${assigned}}}}}`;
  const assigned = (kind: string): string => auth(`userAssignedIdentity: {${kind}: "the id"}`);
  const soon = Math.floor(Date.now() / 1000) + 3600;

  test.each([
    ['itself', auth(), {}],
    ['a client id', assigned('clientId'), { client_id: 'the id' }],
    ['an object id', assigned('objectId'), { object_id: 'the id' }],
    ['a resource id', assigned('resourceId'), { msi_res_id: 'the id' }],
  ])('asks the machine for the token of %s', async (_name, settings, query) => {
    const machine = await tokenEndpoint(cleanup, () => ({ access_token: 'm', expires_in: '3600', expires_on: '1' }));
    const { call } = await gateway(settings, { AZURE_POD_IDENTITY_AUTHORITY_HOST: machine.origin });
    expect([(await call()).body, (await call()).body]).toEqual(['Bearer m', 'Bearer m']);
    expect(machine.calls).toHaveLength(1);
    expect(machine.calls[0]?.headers['metadata']).toBe('true');
    expect(asked(machine)).toMatchObject({ line: 'GET /metadata/identity/oauth2/token' });
    expect(asked(machine).query).toEqual({
      'api-version': '2018-02-01',
      resource: 'https://cognitiveservices.azure.com',
      ...query,
    });
  });

  test.each([
    ['itself', auth(), {}],
    ['a resource id', assigned('resourceId'), { mi_res_id: 'the id' }],
  ])('asks the service that it runs in for the token of %s', async (_name, settings, query) => {
    const service = await tokenEndpoint(cleanup, () => ({ access_token: 's', expires_on: String(soon) }));
    const { call } = await gateway(settings, {
      IDENTITY_ENDPOINT: `${service.origin}/msi/token`,
      IDENTITY_HEADER: 'h',
    });
    expect([(await call()).body, (await call()).body]).toEqual(['Bearer s', 'Bearer s']);
    expect(service.calls).toHaveLength(1);
    expect(service.calls[0]?.headers['x-identity-header']).toBe('h');
    expect(asked(service).query).toEqual({
      'api-version': '2019-08-01',
      resource: 'https://cognitiveservices.azure.com',
      ...query,
    });
  });

  test('asks a cloud shell by a form', async () => {
    const shell = await tokenEndpoint(cleanup);
    const { call } = await gateway(auth(), { MSI_ENDPOINT: `${shell.origin}/token` });
    expect((await call()).body).toBe('Bearer token-1');
    expect(asked(shell)).toMatchObject({
      line: 'POST /token',
      form: { resource: 'https://cognitiveservices.azure.com' },
    });
    expect(shell.calls[0]?.headers['metadata']).toBe('true');
  });
});

describe('Azure, by what the environment offers', () => {
  const auth = '{azure: {implicit: {}}}';

  test('takes the first that works, and stays with it', async () => {
    let broken = true;
    const entra = await tokenEndpoint(cleanup, (call, response) => {
      response.statusCode = broken && call.body.includes('client_secret') ? 401 : 200;
      return { access_token: call.body.includes('client_secret') ? 'secret' : 'workload', expires_in: 1 };
    });
    const { call } = await gateway(auth, {
      AZURE_AUTHORITY_HOST: entra.origin,
      AZURE_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_CLIENT_SECRET: 's',
      AZURE_FEDERATED_TOKEN_FILE: fileWith('w'),
    });
    expect((await call()).body).toBe('Bearer workload');
    broken = false;
    expect((await call()).body).toBe('Bearer workload');
    expect(entra.calls).toHaveLength(3);
  });

  test('looks for a machine that has an identity', async () => {
    const machine = await tokenEndpoint(cleanup, (call, response) => {
      response.statusCode = call.headers['metadata'] === 'true' ? 200 : 400;
      return { access_token: 'm', expires_in: 3600 };
    });
    const { call } = await gateway(auth, { AZURE_POD_IDENTITY_AUTHORITY_HOST: machine.origin });
    expect((await call()).body).toBe('Bearer m');
    expect(machine.calls.map(({ headers }) => headers['metadata'])).toEqual([undefined, 'true']);
  });

  test('fails where nothing works, and tells the log all that was tried', async () => {
    const machine = await tokenEndpoint(cleanup, (_call, response) => void response.destroy());
    const running = await gateway(auth, { AZURE_POD_IDENTITY_AUTHORITY_HOST: machine.origin });
    expect(ofAnswer(await running.call())).toEqual(failure('the environment has no Azure credentials that work'));
    await running.logged(
      'no Azure client secret',
      'no Azure workload identity',
      'no Azure metadata service',
      'az gives no credential',
    );
  });
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = String(rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }));

function account(endpoint: TokenEndpoint): object {
  return {
    type: 'service_account',
    client_email: 'gw@p.iam.gserviceaccount.com',
    private_key_id: 'key-1',
    private_key: PEM,
    token_uri: `${endpoint.origin}/token`,
  };
}

function gcp(credential: object | null, more = ''): string {
  const given = credential === null ? '' : `credential: {file: "${fileWith(JSON.stringify(credential))}"}`;
  return `{gcp: {${[given, more].filter((part) => part !== '').join(', ')}}}`;
}

const identityToken = (audience: string, ttlS = 3600): string =>
  new UnsecuredJWT({ aud: audience, exp: Math.floor(Date.now() / 1000) + ttlS }).encode();

describe('Google Cloud, by a service account', () => {
  test('trades a signed assertion for an access token', async () => {
    const google = await tokenEndpoint(cleanup);
    const { call } = await gateway(gcp(account(google)), {});
    expect([(await call()).body, (await call()).body]).toEqual(['Bearer token-1', 'Bearer token-1']);
    expect(google.calls).toHaveLength(1);
    const { line, form } = asked(google);
    expect([line, form['grant_type']]).toEqual(['POST /token', 'urn:ietf:params:oauth:grant-type:jwt-bearer']);
    const { payload, protectedHeader } = await jwtVerify(form['assertion'] ?? '', rsa.publicKey, {
      issuer: 'gw@p.iam.gserviceaccount.com',
      audience: `${google.origin}/token`,
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(payload['scope']).toBe('https://www.googleapis.com/auth/cloud-platform');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
  });

  test.each([
    ['that is configured', ', audience: "https://svc.run.app"', 'https://svc.run.app'],
    ['of the backend, not of the client', '', 'https://localhost'],
  ])('trades it for an identity token for the audience %s', async (_name, more, audience) => {
    const google = await tokenEndpoint(cleanup, () => ({ id_token: identityToken(audience) }));
    const { call } = await gateway(gcp(account(google), `type: idToken${more}`), {}, { host: 'localhost' });
    const first = await call({ host: 'evil.test' });
    expect(first.body).toBe(`Bearer ${identityToken(audience)}`.slice(0, first.body.length));
    await call();
    expect(google.calls).toHaveLength(1);
    const { payload } = await jwtVerify(asked(google).form['assertion'] ?? '', rsa.publicKey);
    expect([payload['target_audience'], payload['scope']]).toEqual([audience, undefined]);
  });

  test.each([
    [
      '400',
      answering(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }),
      'the Google token endpoint answered 400',
      'Invalid JWT Signature.',
    ],
    [
      '403',
      answering(403, { error: { status: 'PERMISSION_DENIED', message: 'no' } }),
      'the Google token endpoint answered 403',
      'PERMISSION_DENIED: no',
    ],
    ['garbage', answering(200, '\u0000'), 'the Google token endpoint did not answer with a JSON object', 'JSON'],
  ] as const)('fails on %s', async (_name, answer, why, told) => {
    const google = await tokenEndpoint(cleanup, answer);
    const running = await gateway(gcp(account(google)), {});
    expect(ofAnswer(await running.call())).toEqual(failure(why));
    await running.logged('backend-auth', told);
    expect(running.log.join()).not.toContain('PRIVATE KEY');
  });

  test.each([
    ['no key', { type: 'service_account', client_email: 'a', private_key: 'x' }, 'no RSA key in PEM form'],
    ['no type', {}, '`type` has to be one of'],
    [
      'no source',
      { type: 'external_account', audience: 'a', subject_token_type: 'b', token_url: 'c' },
      'name a `file` or a `url`',
    ],
    [
      'itself as source',
      { type: 'impersonated_service_account', service_account_impersonation_url: 'https://x.test/' },
      '`source_credentials` have to be',
    ],
  ])('is refused with %s', async (_name, credential, message) => {
    await expect(gateway(gcp(credential), {})).rejects.toThrow(message);
  });
});

describe('Google Cloud, by other credentials', () => {
  const user = (google: TokenEndpoint): object => ({
    type: 'authorized_user',
    client_id: 'c',
    client_secret: 's',
    refresh_token: 'r',
    token_uri: `${google.origin}/token`,
  });

  test('of a person are refreshed', async () => {
    const google = await tokenEndpoint(cleanup);
    const { call } = await gateway(gcp(user(google)), {});
    expect((await call()).body).toBe('Bearer token-1');
    expect(asked(google).form).toEqual({
      grant_type: 'refresh_token',
      client_id: 'c',
      client_secret: 's',
      refresh_token: 'r',
    });
  });

  test.each([
    [
      'an access token',
      '',
      ':generateAccessToken',
      { delegates: ['d'], scope: ['https://www.googleapis.com/auth/cloud-platform'], lifetime: '3600s' },
    ],
    [
      'an identity token',
      'type: idToken, audience: "https://a.test"',
      ':generateIdToken',
      { delegates: ['d'], audience: 'https://a.test', includeEmail: true },
    ],
  ])('of a person give %s of another account', async (_name, more, method, body) => {
    const expireTime = new Date(Date.now() + 3_600_000).toISOString();
    const google = await tokenEndpoint(cleanup, ({ url }) => {
      if (url === '/token') return { access_token: 'own', expires_in: 3600 };
      return url.endsWith(':generateIdToken') ? { token: 'an.id.token' } : { accessToken: 'theirs', expireTime };
    });
    const credential = {
      type: 'impersonated_service_account',
      service_account_impersonation_url: `${google.origin}/v1/projects/-/serviceAccounts/a:generateAccessToken`,
      delegates: ['d'],
      source_credentials: user(google),
    };
    const { call } = await gateway(gcp(credential, more), {});
    expect(['Bearer theirs', 'Bearer an.id.token']).toContain((await call()).body);
    expect(google.calls[1]?.url).toBe(`/v1/projects/-/serviceAccounts/a${method}`);
    expect(google.calls[1]?.headers.authorization).toBe('Bearer own');
    expect(JSON.parse(google.calls[1]?.body ?? '')).toEqual(body);
  });

  test.each([
    ['a file', () => ({ file: fileWith('outside\n') })],
    [
      'a JSON file',
      () => ({ file: fileWith('{"t":"outside"}'), format: { type: 'json', subject_token_field_name: 't' } }),
    ],
  ])('of another platform are exchanged, from %s', async (_name, source) => {
    const google = await tokenEndpoint(cleanup);
    const credential = {
      type: 'external_account',
      audience: '//iam.googleapis.com/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${google.origin}/v1/token`,
      credential_source: source(),
    };
    const { call } = await gateway(gcp(credential), {});
    expect((await call()).body).toBe('Bearer token-1');
    expect(asked(google)).toMatchObject({
      line: 'POST /v1/token',
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        audience: '//iam.googleapis.com/x',
        scope: 'https://www.googleapis.com/auth/cloud-platform',
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        subject_token: 'outside',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      },
    });
  });

  test('of another platform are exchanged, from an address, and give tokens of an account', async () => {
    const google = await tokenEndpoint(cleanup, ({ url, headers }) => {
      if (url === '/outside') return headers['x-flavor'] === 'f' ? { t: 'outside' } : {};
      if (url === '/v1/token') return { access_token: 'federated', expires_in: 3600 };
      return { accessToken: 'theirs', expireTime: new Date(Date.now() + 3_600_000).toISOString() };
    });
    const credential = {
      type: 'external_account',
      audience: 'a',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${google.origin}/v1/token`,
      service_account_impersonation_url: `${google.origin}/v1/projects/-/serviceAccounts/a:generateAccessToken`,
      credential_source: {
        url: `${google.origin}/outside`,
        headers: { 'x-flavor': 'f' },
        format: { type: 'json', subject_token_field_name: 't' },
      },
    };
    const { call } = await gateway(gcp(credential), {});
    expect((await call()).body).toBe('Bearer theirs');
    expect(asked(google, 1).form['subject_token']).toBe('outside');
    expect(google.calls[2]?.headers.authorization).toBe('Bearer federated');
  });

  test('give no identity tokens when they are of another platform', async () => {
    const credential = {
      type: 'external_account',
      audience: 'a',
      subject_token_type: 'b',
      token_url: 'https://c.test',
      credential_source: { file: '/x' },
    };
    await expect(gateway(gcp(credential, 'type: idToken'), {})).rejects.toThrow('gives no identity tokens');
    const { call } = await gateway(gcp(null, 'type: idToken'), {
      GOOGLE_APPLICATION_CREDENTIALS: fileWith(JSON.stringify(credential)),
    });
    expect(ofAnswer(await call())).toEqual(
      failure('a Google credential of type external_account gives no identity tokens'),
    );
  });
});

describe('Google Cloud, by what the environment offers', () => {
  test('takes the file that is named', async () => {
    const google = await tokenEndpoint(cleanup);
    const file = fileWith(JSON.stringify(account(google)));
    const { call } = await gateway(gcp(null), { GOOGLE_APPLICATION_CREDENTIALS: file }, { threads: 1 });
    expect((await call()).body).toBe('Bearer token-1');
  });

  test('takes what the tools have left', async () => {
    const google = await tokenEndpoint(cleanup);
    const file = fileWith(JSON.stringify(account(google)), 'application_default_credentials.json');
    const { call } = await gateway(gcp(null), { CLOUDSDK_CONFIG: join(file, '..') });
    expect((await call()).body).toBe('Bearer token-1');
  });

  test('asks the metadata server', async () => {
    const server = await tokenEndpoint(cleanup);
    const { call } = await gateway(gcp(null), { GCE_METADATA_HOST: `127.0.0.1:${server.port}` });
    expect((await call()).body).toBe('Bearer token-1');
    expect(asked(server).line).toBe('GET /computeMetadata/v1/instance/service-accounts/default/token');
    expect(server.calls[0]?.headers['metadata-flavor']).toBe('Google');
  });

  test('asks the metadata server for identity tokens, which tell when they end', async () => {
    let ttlS = 9;
    const server = await tokenEndpoint(cleanup, ({ url }) =>
      identityToken(new URL(url, 'http://x').searchParams.get('audience') ?? '', ttlS),
    );
    const { call } = await gateway(gcp(null, 'type: idToken, audience: "https://a.test"'), {
      GCE_METADATA_HOST: `127.0.0.1:${server.port}`,
    });
    expect((await call()).status).toBe(200);
    ttlS = 3600;
    await call();
    await call();
    expect(server.calls).toHaveLength(2);
    expect(asked(server)).toMatchObject({
      line: 'GET /computeMetadata/v1/instance/service-accounts/default/identity',
      query: { audience: 'https://a.test', format: 'full' },
    });
  });

  test.each([
    [
      'a file that is not there',
      { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/at/all' },
      'a credential file cannot be read',
    ],
    [
      'a file that holds no credential',
      { GOOGLE_APPLICATION_CREDENTIALS: import.meta.filename },
      'the Google credential is not a JSON object',
    ],
    ['no metadata server', { GCE_METADATA_HOST: '127.0.0.1:1' }, '127.0.0.1 does not answer'],
  ])('fails with %s', async (_name, env, why) => {
    const { call } = await gateway(gcp(null), env);
    expect(ofAnswer(await call())).toEqual(failure(why));
  });
});
