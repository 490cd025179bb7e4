import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup } from './gateway.ts';
import { answering, tokenEndpoint } from './token-endpoint.ts';
import { TraceWatch } from './trace-watch.ts';
import { asked, failure, fetchingTokens, ofAnswer } from './cloud-tokens.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gateway, fileWith } = fetchingTokens(cleanup);

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
