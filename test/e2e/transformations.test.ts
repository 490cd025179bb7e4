import { afterEach, describe, expect, test } from '@jest/globals';

import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function gatewayWith(rest: string) {
  const server = cleanup.add(await upstream(echo));
  const running = cleanup.add(await startGateway(rest.replaceAll('BACKEND', `host: "127.0.0.1:${server.port}"`)));
  return { ...running, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
}

const route = (policies: string, backend = '') => `
gateways: {default: {port: 80}}
routes:
- backends: [{BACKEND${backend}}]
  policies:
${policies.replaceAll(/^/gm, '    ')}`;

const seen = (body: string) =>
  JSON.parse(body) as { method: string; url: string; body: string; headers: Record<string, string> };

describe('transformations', () => {
  test('change the request by what it holds, body included', async () => {
    const { ask } = await gatewayWith(
      route(`transformations:
  request:
    metadata: {team: 'json(request.body).team'}
    set:
      x-team: 'metadata.team'
      ':path': '"/v2" + request.path'
      x-missing: 'request.headers["nope"]'
    remove: [x-old]
    body: '{"wrapped": json(request.body)}'`),
    );
    const answer = await ask('/a', {
      method: 'POST',
      headers: { 'x-old': '1', 'x-missing': 'was here' },
      body: '{"team":"red"}',
    });
    expect(answer.status).toBe(200);
    const { url, headers, body } = seen(answer.body);
    expect(url).toBe('/v2/a');
    expect(headers).toMatchObject({ 'x-team': 'red', 'content-length': String(body.length) });
    expect(headers).not.toHaveProperty('x-old');
    expect(headers).not.toHaveProperty('x-missing');
    expect(JSON.parse(body)).toEqual({ wrapped: { team: 'red' } });
  });

  test('change the response from the backend outwards, each seeing what the one before has left', async () => {
    const { ask } = await gatewayWith(`
gateways:
  default:
    port: 80
    listeners:
    - name: main
      transformations: {response: {set: {x-order: 'response.headers["x-order"] + " gateway"'}}}
routes:
- backends:
  - BACKEND
    policies: {transformations: {response: {set: {x-order: 'response.headers["x-order"] + " backend"', ':status': '202'}}}}
  policies: {transformations: {response: {set: {x-order: '"route"'}, body: '{"length": size(response.body)}'}}}`);
    const answer = await ask('/');
    expect(answer).toMatchObject({ status: 202, headers: { 'x-order': 'route backend gateway' } });
    expect(JSON.parse(answer.body).length).toBeGreaterThan(10);
  });

  test('of a gateway decide which route a request takes', async () => {
    const { ask } = await gatewayWith(`
gateways: {default: {port: 80}}
policies:
- name: {name: t, namespace: default}
  target: {gateway: {gatewayName: default, gatewayNamespace: default}}
  phase: gateway
  policy: {transformations: {request: {set: {':path': '"/tenants/" + request.headers["x-tenant"] + request.path'}}}}
routes:
- matches: [{path: {pathPrefix: /tenants/red}}]
  policies: {directResponse: {status: 200, body: red}}
- policies: {directResponse: {status: 404, body: none}}`);
    expect(await ask('/', { headers: { 'x-tenant': 'red' } })).toMatchObject({ status: 200, body: 'red' });
    expect(await ask('/')).toMatchObject({ status: 404 });
  });

  test('see nothing but the beginning of a body that is too large, which arrives whole', async () => {
    const { ask } = await gatewayWith(`
frontendPolicies: {http: {maxBufferSize: 1000}}
${route(`transformations:
  request:
    set:
      x-body: 'has(request.body) ? "there" : "absent"'
      x-prefix: 'string(size(request.bodyPrefix))'`)}`);
    const { headers, body } = seen((await ask('/', { method: 'POST', body: 'x'.repeat(100_000) })).body);
    expect(headers).toMatchObject({ 'x-body': 'absent', 'x-prefix': '1000' });
    expect(body.length).toBe(100_000);
  });

  test('of a backend start from the same request at every attempt, and change the body of each', async () => {
    const bodies: string[] = [];
    const attempts: string[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          bodies.push(body);
          attempts.push(String(request.headers['x-n']));
          response.writeHead(bodies.length < 3 ? 503 : 200).end();
        });
      }),
    );
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - host: "127.0.0.1:${server.port}"
    policies: {transformations: {request: {add: {x-n: '"n" + request.headers["x-n"]'}, body: '"<" + string(request.body) + ">"'}}}
  policies: {retry: {attempts: 2, codes: [503]}}`),
    );
    const answer = await ask(running.port(80), '/', { method: 'POST', headers: { 'x-n': '1' }, body: 'b' });
    expect(answer.status).toBe(200);
    expect(bodies).toEqual(['<b>', '<b>', '<b>']);
    expect(attempts).toEqual(['1, n1', '1, n1', '1, n1']);
  });

  test('chosen by condition on the request hold for the response too', async () => {
    const { ask } = await gatewayWith(
      route(`transformations:
  conditional:
  - condition: 'request.headers["x-kind"] == "a"'
    request: {remove: [x-kind]}
    response: {set: {x-chosen: '"a"'}}
  - response: {set: {x-chosen: '"other"'}}`),
    );
    expect((await ask('/', { headers: { 'x-kind': 'a' } })).headers).toMatchObject({ 'x-chosen': 'a' });
    expect((await ask('/')).headers).toMatchObject({ 'x-chosen': 'other' });
  });
});
