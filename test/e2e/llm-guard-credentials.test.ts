import { afterEach, expect, test } from '@jest/globals';

import { verifySignature } from '../proxy/backends/auth/aws-verifier.ts';
import { ask, Cleanup, startGateway } from './gateway.ts';
import { type Asked, guardService, says } from './guard-services.ts';
import { chatService } from './llm-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const keys = { accessKeyId: 'AKIDGUARD', secretAccessKey: 'guard-secret' };
const AWS = `{aws: {accessKeyId: ${keys.accessKeyId}, secretAccessKey: ${keys.secretAccessKey}, region: eu-west-1, serviceName: execute-api}}`;

/** What a webhook gets to see of one chat, by where it stands and what it is shown. */
async function askedOf(target: (port: number) => string, backends: (port: number) => string = () => '[]') {
  const hook = cleanup.add(await guardService(says({ action: {} })));
  const model = await chatService(cleanup, 'A');
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
backends: ${backends(hook.port)}
llm:
  models:
  - {name: m, provider: openAI, params: {baseUrl: "${model.url}"}, guardrails: {request: [{webhook: {target: ${target(hook.port)}}}]}}
`),
  );
  const answer = await ask(gateway.port(80), '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer of-the-client' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect(answer.status).toBe(200);
  const [asked] = hook.asked;
  if (asked === undefined) throw new Error('the webhook was not asked');
  return { asked, port: hook.port };
}

const local = (port: number) => `127.0.0.1:${port}`;

test('a webhook is shown what its connection says, and the client nothing of it', async () => {
  const { asked } = await askedOf((port) => `{host: "${local(port)}", policies: {backendAuth: {key: hook-key}}}`);
  expect(asked.headers['authorization']).toBe('Bearer hook-key');
});

test('a webhook without credentials is not shown those of the client', async () => {
  const { asked } = await askedOf((port) => `{host: "${local(port)}"}`);
  expect(asked.headers['authorization']).toBeUndefined();
});

test('a named backend that is a webhook is shown its own, or what the guard says instead', async () => {
  const named = (port: number) =>
    `[{name: hook, host: "${local(port)}", policies: {backendAuth: {key: {value: named-key, location: {header: {name: x-hook-key}}}}}}]`;
  const own = await askedOf(() => '{backend: hook}', named);
  expect(own.asked.headers['x-hook-key']).toBe('named-key');
  const other = await askedOf(() => '{backend: hook, policies: {backendAuth: {key: guard-key}}}', named);
  expect(other.asked.headers['authorization']).toBe('Bearer guard-key');
  expect(other.asked.headers['x-hook-key']).toBeUndefined();
});

test('the call of a webhook is signed with the name that it carries', async () => {
  const signed = async (asked: Asked) =>
    verifySignature({ ...asked, body: Buffer.from(asked.text) }, (id) => (id === keys.accessKeyId ? keys : undefined));
  const inline = await askedOf((port) => `{host: "${local(port)}", policies: {backendAuth: ${AWS}}}`);
  expect(inline.asked.host).toBe(local(inline.port));
  const named = await askedOf(
    () => '{backend: hook}',
    (port) => `[{name: hook, host: "${local(port)}", policies: {backendAuth: ${AWS}}}]`,
  );
  for (const { asked } of [inline, named]) expect(await signed(asked)).toBe('valid');
});
