import { afterEach, expect, test } from '@jest/globals';
import { eventually } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Seen {
  readonly url: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

async function listening(): Promise<{ readonly seen: Seen[]; readonly port: number }> {
  const seen: Seen[] = [];
  const { port } = cleanup.add(
    await upstream((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        seen.push({ url: request.url, headers: request.headers, body });
        response.end('ok');
      });
    }),
  );
  return { seen, port };
}

async function mirrored(policies: string, more = '') {
  const [main, copy] = [await listening(), await listening()];
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
backends: [{name: next, host: "127.0.0.1:${copy.port}", policies: ${policies}}]
${more}
routes:
- policies: {requestMirror: {backend: {backend: next}, percentage: 1}}
  backends: [{host: "127.0.0.1:${main.port}", policies: {backendAuth: {key: of-main}}}]`),
  );
  return { main, copy, running };
}

test('a copy meets the policies of its backend, and the request of the client those of its own', async () => {
  const { main, copy, running } = await mirrored(
    `{backendAuth: {key: of-next}, requestHeaderModifier: {set: {x-copy: "yes", host: next.example}, remove: [x-client]}}`,
  );
  const sent = { method: 'POST', body: 'hi', headers: { 'x-client': '1', authorization: 'Bearer mine' } };
  expect((await ask(running.port(80), '/chat', sent)).status).toBe(200);
  await eventually('the copy has come', () => copy.seen.length === 1);
  expect(copy.seen[0]).toMatchObject({
    url: '/chat',
    body: 'hi',
    headers: { authorization: 'Bearer of-next', 'x-copy': 'yes', host: 'next.example' },
  });
  expect(copy.seen[0]?.headers).not.toHaveProperty('x-client');
  expect(main.seen[0]).toMatchObject({ body: 'hi', headers: { authorization: 'Bearer of-main', 'x-client': '1' } });
  expect(main.seen[0]?.headers).not.toHaveProperty('x-copy');
});

test('a copy meets the policies that target its backend', async () => {
  const { copy, running } = await mirrored(
    '{}',
    'policies: [{name: {name: keys, namespace: default}, target: {backend: {backend: {name: next, namespace: default}}}, policy: {backendAuth: {key: targeted}}}]',
  );
  expect((await ask(running.port(80), '/')).status).toBe(200);
  await eventually('the copy has come', () => copy.seen.length === 1);
  expect(copy.seen[0]?.headers).toMatchObject({ authorization: 'Bearer targeted' });
});

test('a copy that the rules of its backend refuse is not sent, and the client knows nothing of it', async () => {
  const { main, copy, running } = await mirrored(
    `{authorization: {rules: ['request.path == "/yes"']}, transformations: {request: {set: {x-body: 'string(request.body)'}}}}`,
  );
  expect((await ask(running.port(80), '/no', { method: 'POST', body: 'a' })).status).toBe(200);
  await running.logged('warn', 'mirrored requests fail', 'authorization failed');
  expect((await ask(running.port(80), '/yes', { method: 'POST', body: 'b' })).status).toBe(200);
  await eventually('the copy has come', () => copy.seen.length === 1);
  expect(copy.seen[0]).toMatchObject({ url: '/yes', body: 'b', headers: { 'x-body': 'b' } });
  expect(main.seen.map(({ url }) => url)).toEqual(['/no', '/yes']);
});
