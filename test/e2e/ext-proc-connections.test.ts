import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

import { serveExtProc, type PolicyServer, type ProcessCall } from '../services/envoy.ts';
import { answerOf, Http2Client, http2Upstream } from './clients.ts';
import { ask, Cleanup, echo, startGateway } from './gateway.ts';
import { bytesOf, modes, nothingOpen, processedGateway, processor, streamed } from './processor.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Lets everything pass that has no body. */
function passing(call: ProcessCall): void {
  call.onMessage((message) =>
    call.send(message['requestHeaders'] === undefined ? { responseHeaders: {} } : { requestHeaders: {} }),
  );
  call.onEnd(() => call.end());
}

/** One request of a client that keeps its connections. */
async function over(agent: Agent, port: number, body: string): Promise<{ status: number; body: string }> {
  const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', agent, path: '/a' });
  outgoing.on('error', () => {});
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(response, 'end');
  return { status: response.statusCode ?? 0, body: text };
}

describe('connections', () => {
  test('of clients are good for more when the processor ends a body early', async () => {
    const service = await processor(cleanup, {
      requestBody: (_part, { messages }) =>
        messages.filter((each) => each['requestBody'] !== undefined).length === 1
          ? streamed('requestBody', { body: 'short', endOfStream: true })
          : null,
    });
    const gateway = await processedGateway(cleanup, service, { backend: echo });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    cleanup.add({ close: () => agent.destroy() });
    for (const size of [10, 200_000, 3_000_000, 10]) {
      const answer = await over(agent, gateway.http, 'x'.repeat(size));
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body).body).toBe('short');
    }
    await nothingOpen(service);
  });

  test('to a processor that was replaced are opened anew', async () => {
    let server: PolicyServer = await serveExtProc(passing);
    const { port } = server;
    const gateway = await processedGateway(
      cleanup,
      { port },
      {
        backend: (_request, response) => response.end('ok'),
        more: modes({ responseBodyMode: 'none' }),
      },
    );
    for (let i = 0; i < 5; i++) {
      expect(await gateway.ask('/a')).toMatchObject({ status: 200, body: 'ok' });
      server.close();
      server = await serveExtProc(passing, { address: `127.0.0.1:${port}` });
    }
    cleanup.add(server);
    const answers = await Promise.all(Array.from({ length: 100 }, () => gateway.ask('/a')));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test('of HTTP/2 carry streams through the processor at the same time, both ways', async () => {
    const service = await processor(cleanup, {
      requestBody: (part) => streamed('requestBody', { ...part, body: bytesOf([part]).toString().toUpperCase() }),
    });
    const backend = cleanup.add(
      await http2Upstream((stream) => {
        stream.respond({ ':status': 200 });
        stream.pipe(stream);
      }),
    );
    const running = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extProc: {host: "127.0.0.1:${service.port}"}}
  backends: [{host: "127.0.0.1:${backend.port}", policies: {http: {version: HTTP/2.0}}}]
`),
    );
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${running.port(80)}`));
    const streams = Array.from({ length: 20 }, (_, i) => {
      const stream = client.stream({ ':method': 'POST', ':path': '/a' });
      const answer = answerOf(stream);
      let seen = '';
      const reply = new Promise<void>((resolve) => {
        stream.on('data', (chunk: Buffer) => {
          seen += chunk.toString();
          if (seen.length >= 2) resolve();
        });
      });
      stream.write(`a${String.fromCharCode(97 + i)}`);
      return { stream, answer, reply };
    });
    // A conversation: each side speaks before the other has ended.
    await Promise.all(streams.map(({ reply }) => reply));
    for (const { stream } of streams) stream.end('z');
    const answers = await Promise.all(streams.map(({ answer }) => answer));
    expect(answers.map(({ text }) => text)).toEqual(streams.map((_, i) => `A${String.fromCharCode(65 + i)}Z`));
    await nothingOpen(service);
    expect(service.streams.map(({ left }) => left)).toEqual(streams.map(() => 'ended'));
  });

  test('of workers in other threads reach it as well', async () => {
    const service = await processor(cleanup);
    const backend = cleanup.add(
      await http2Upstream((stream) => stream.respond({ ':status': 204 }, { endStream: true })),
    );
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
routes:
- policies: {extProc: {host: "127.0.0.1:${service.port}"}}
  backends: [{host: "127.0.0.1:${backend.port}", policies: {http: {version: HTTP/2.0}}}]
`,
        { threads: 1 },
      ),
    );
    expect((await ask(running.port(80), '/a')).status).toBe(204);
    await nothingOpen(service);
  });

  test('to a processor are cut with the response that it answers by itself when that has begun', async () => {
    const service = await processor(cleanup, {
      responseBody: (part) =>
        bytesOf([part]).includes('second')
          ? { immediateResponse: { status: { code: 403 } } }
          : streamed('responseBody', part),
    });
    let more = (): void => {};
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => {
        response.write('first');
        more = () => response.write('second');
      },
    });
    const response = await fetch(`http://127.0.0.1:${gateway.http}/a`);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    more();
    await expect(reader?.read()).rejects.toThrow();
    await nothingOpen(service);
  });
});
