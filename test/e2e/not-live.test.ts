import type { ServerResponse } from 'node:http';

import { afterEach, expect, test } from '@jest/globals';

import { createDataPlane } from '../../proxy/engine/data-plane.ts';
import { Gateway, standaloneProvider } from '../../proxy/index.ts';
import { finished, gwctl, startGwctl } from '../commands/gwctl.ts';
import { freePort } from '../free-port.ts';
import { eventually } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
});

/** A gateway that waits for a document before its first configuration can be live. */
async function waiting() {
  const held: ServerResponse[] = [];
  const documents = cleanup.add(await upstream((_request, response) => void held.push(response)));
  const [admin, port] = [await freePort(), await freePort()];
  const text = `
config: {adminAddr: "127.0.0.1:${admin}", statsAddr: off, readinessAddr: off}
mcp:
  port: ${port}
  targets: [{name: pets, openapi: {host: "http://127.0.0.1:1", schema: {url: "http://127.0.0.1:${documents.port}/"}}}]
`;
  const starting = Gateway.start({
    provider: standaloneProvider({ kind: 'text', text, name: 'test.yaml' }, { env: {} }),
    build: { version: '0.0.0', gitRevision: 'test' },
    output: { write: () => Promise.resolve() },
    inThread: true,
    create: createDataPlane,
  });
  cleanup.add({
    close: async () => {
      const gateway = await starting.catch(() => null);
      void gateway?.shutdown();
      await gateway?.shutdown();
    },
  });
  await eventually('the document is asked for', () => held.length > 0);
  const release = (): void => {
    for (const response of held.splice(0)) response.setHeader('content-type', 'application/json').end(DOCUMENT);
  };
  cleanup.add({ close: release });
  return { address: `127.0.0.1:${admin}`, starting, release };
}

test('before the first configuration is live there is none to show or to ask about', async () => {
  const { address, release, starting } = await waiting();
  const dump = await fetch(`http://${address}/config_dump`);
  expect([dump.status, dump.headers.get('retry-after'), await dump.text()]).toEqual([
    503,
    '1',
    'no configuration is live yet: the first one is being prepared\n',
  ]);
  const question = { method: 'GET', scheme: 'http', authority: 'a', target: '/', headers: [] };
  const explain = () => fetch(`http://${address}/debug/explain`, { method: 'POST', body: JSON.stringify(question) });
  expect((await explain()).status).toBe(503);
  release();
  await starting;
  expect((await fetch(`http://${address}/config_dump`)).status).toBe(200);
  expect((await explain()).status).toBe(200);
});

test('gwctl says so, and goes on when it is live', async () => {
  const { address, release } = await waiting();
  const child = startGwctl(['proxy', 'config', 'mcp', '--address', address]);
  child.stdin.end();
  child.stderr.on('data', (text: string) => {
    if (String(text).includes('no live configuration yet: waiting for it')) release();
  });
  const { code, stdout, stderr } = await finished(child);
  expect([code, stderr]).toEqual([0, `the proxy at ${address} has no live configuration yet: waiting for it\n`]);
  expect(stdout).toMatch(/pets +openapi +not asked +0 +1 +0/);
});

test('gwctl gives up in the time that it is given', async () => {
  const { address } = await waiting();
  const { code, stdout, stderr } = await gwctl(['config', 'mcp', '--address', address, '--timeout', '300ms', '-q']);
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toContain(`the proxy at ${address} has no live configuration yet`);
  expect(stderr).toContain('GW_NOT_LIVE');
  const version = await gwctl(['version', '--address', address, '--timeout', '300ms']);
  expect([version.code, version.stderr.includes('GW_NOT_LIVE')]).toEqual([4, true]);
});
