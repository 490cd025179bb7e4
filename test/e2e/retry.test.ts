/** Tries of requests whose bodies are still on their way, and of clients that do not wait. */
import type { IncomingMessage, RequestListener } from 'node:http';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** What the backend got: one entry for each try. */
interface Try {
  readonly attempt: string | string[] | undefined;
  bytes: number;
}

type Answer = (number: number, request: IncomingMessage) => { status: number; early?: boolean };

async function retrying(policy: string, answer: Answer) {
  const tries: Try[] = [];
  const listener: RequestListener = (request, response) => {
    const seen: Try = { attempt: request.headers['x-retry-attempt'], bytes: 0 };
    tries.push(seen);
    const { status, early = false } = answer(tries.length, request);
    const end = (): void => void response.writeHead(status).end(`try ${tries.length}`);
    if (early) {
      end();
      return;
    }
    request.on('data', (chunk: Buffer) => (seen.bytes += chunk.byteLength)).on('end', end);
  };
  const server = cleanup.add(await upstream(listener));
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${server.port}"}], policies: {retry: {${policy}}}}]\n`,
    ),
  );
  return { tries, running, port: running.port(80) };
}

describe('a body', () => {
  const chunked = { 'transfer-encoding': 'chunked' };

  test.each([
    ['of 64 KiB is sent with every try', 65_536, {}, [65_536, 65_536, 65_536]],
    ['that is longer is sent once', 65_537, {}, [65_537]],
    ['without a length is sent with every try while it is short', 700, chunked, [700, 700, 700]],
    ['without a length that gets too long is sent once', 70_000, chunked, [70_000]],
  ])('%s', async (_name, size, headers, sent) => {
    const { tries, port } = await retrying('attempts: 2, codes: [503]', () => ({ status: 503 }));
    const answer = await ask(port, '/', { method: 'POST', headers, body: 'x'.repeat(size) });
    expect([answer.status, answer.body]).toEqual([503, `try ${sent.length}`]);
    expect(tries.map(({ bytes }) => bytes)).toEqual(sent);
  });

  test('that still comes when a try is answered reaches the next one whole', async () => {
    const { tries, port } = await retrying('attempts: 2, codes: [503]', (number) =>
      number < 3 ? { status: 503, early: true } : { status: 200 },
    );
    const client = cleanup.add(new RawClient(port));
    client.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n');
    await eventually('the third try', () => tries.length === 3);
    client.write('5\r\nworld\r\n0\r\n\r\n');
    expect(await client.until((text) => text.includes('try'))).toContain('HTTP/1.1 200');
    expect(tries.map(({ attempt }) => attempt)).toEqual([undefined, '1', '2']);
    expect(tries.at(-1)?.bytes).toBe(10);
  });
});

test('a client that leaves in the pause before a try causes none', async () => {
  const { tries, running, port } = await retrying('attempts: 5, codes: [503], backoff: 1h', () => ({ status: 503 }));
  const client = new RawClient(port).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await eventually('the first try', () => tries.length === 1);
  client.close();
  await running.logged('http.status=499', 'client went away');
  expect(tries).toHaveLength(1);
});

test.each([
  ['precondition', `precondition: 'request.method == "GET"'`, 1],
  ['precondition that fails', 'precondition: \'request.headers["none"].x\'', 1],
  ['condition over the head of the response', `condition: 'response.code == 200'`, 2],
])('a %s decides about tries', async (_name, more, count) => {
  const { tries, port } = await retrying(`codes: [], ${more}`, () => ({ status: 200 }));
  expect((await ask(port, '/', { method: 'POST', body: '{}' })).status).toBe(200);
  expect(tries).toHaveLength(count);
});

test('a condition that reads the body of the response is refused: it could never hold', async () => {
  const condition = `codes: [], condition: 'json(response.body).again'`;
  await expect(retrying(condition, () => ({ status: 200 }))).rejects.toThrow(
    'retry from route default/route0: the condition reads `response.body`, but only heads are tried again',
  );
});
