import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { jwtVerify, UnsecuredJWT } from 'jose';

import { Cleanup } from './gateway.ts';
import { answering, type TokenEndpoint, tokenEndpoint } from './token-endpoint.ts';
import { asked, failure, fetchingTokens, ofAnswer } from './cloud-tokens.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gateway, fileWith } = fetchingTokens(cleanup);

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
