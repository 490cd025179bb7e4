import type { ServerResponse } from 'node:http';
import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { LocalServer } from '../../../proxy/admin/local-server.ts';

const agent = new Agent({ keepAlive: true });
let server: LocalServer | null = null;

afterEach(async () => {
  agent.destroy();
  await server?.close();
  server = null;
});

async function open(handle: (response: ServerResponse) => void): Promise<string> {
  server = await LocalServer.open({
    name: 'test',
    setting: 'config.testAddr',
    address: { kind: 'tcp', hosts: ['127.0.0.1'], port: 0 },
    handle: (_request, response) => handle(response),
  });
  return `http://${server.address}/`;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return text;
}

describe('a local server that closes', () => {
  test('lets an answer under way reach its client first, and then ends a connection that would be kept', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    const url = await open(asked.resolve);
    const answer = once(get(url, { agent }), 'response');
    const response = await asked.promise;
    const closed = server?.close();
    response.end('done');
    const [received] = await answer;
    expect(await textOf(received)).toBe('done');
    await closed;
    const [error] = await once(get(url), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('cuts an answer that does not end', async () => {
    const url = await open((response) => response.write('begun'));
    const [received] = await once(get(url, { agent }), 'response');
    await Promise.all([server?.close(), expect(textOf(received)).rejects.toThrow('aborted')]);
  });
});
