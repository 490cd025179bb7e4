import { afterEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';

import { answerOf, eventually, Http2Client, http2Upstream, RawClient } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';
import {
  fieldsOf,
  type Message,
  modes,
  nothingOpen,
  processedGateway,
  processor,
  type Seen,
  set,
} from './processor.ts';
import { settled } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

describe('trailers', () => {
  test.each(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed'])(
    'are sent and changed in both directions with %s',
    async (mode) => {
      const mutation = (value: string) => ({
        headerMutation: {
          setHeaders: [set('x-sum', value), set('content-length', '1'), set('authorization', 'x')],
          removeHeaders: ['x-gone'],
        },
      });
      const service = await processor(cleanup, {
        requestTrailers: () => ({ requestTrailers: mutation('req') }),
        responseTrailers: () => ({ responseTrailers: mutation('res') }),
      });
      let seen: Message = {};
      const backend = cleanup.add(
        await http2Upstream((stream) => {
          stream.on('trailers', (trailers) => (seen = { ...trailers }));
          stream.resume();
          stream.on('end', () => {
            stream.respond({ ':status': 200 }, { waitForTrailers: true });
            stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1', 'x-gone': '1' }));
            stream.end('done');
          });
        }),
      );
      const running = cleanup.add(
        await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {extProc: {host: "127.0.0.1:${service.port}", ${modes({ requestBodyMode: mode, responseBodyMode: mode })}}}
  backends: [{host: "127.0.0.1:${backend.port}", policies: {http: {version: HTTP/2.0}}}]
`),
      );
      const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${running.port(80)}`));
      const stream = client.session.request(
        { ':method': 'POST', ':path': '/a', ':authority': 'shop.test' },
        { waitForTrailers: true },
      );
      stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '0', 'x-gone': '1' }));
      stream.end('hello');
      const answer = await answerOf(stream);
      expect(answer).toMatchObject({ status: 200, text: 'done', trailers: { 'x-sum': 'res' } });
      expect(seen).toMatchObject({ 'x-sum': 'req' });
      for (const trailers of [seen, answer.trailers])
        for (const name of ['x-gone', 'content-length', 'authorization']) expect(trailers).not.toHaveProperty([name]);
      await nothingOpen(service);
      expect(fieldsOf(service.about('requestTrailers')[0])).toMatchObject({ 'x-sum': '0' });
      expect(fieldsOf(service.about('responseTrailers')[0])).toMatchObject({ 'x-sum': '1' });
      const bodies = [...service.about('requestBody'), ...service.about('responseBody')];
      expect(bodies.filter(({ endOfStream }) => endOfStream === true)).toEqual([]);
    },
  );

  test('are waited for in vain where a message has none', async () => {
    const service = await processor(cleanup);
    const gateway = await processedGateway(cleanup, service, {
      more: modes({ requestBodyMode: 'none', responseBodyMode: 'none' }),
      backend: (request, response) => (request.resume(), response.write('a'), response.end('b')),
    });
    expect(
      (await gateway.ask('/a', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'x' })).body,
    ).toBe('ab');
    await nothingOpen(service);
    expect(service.parts()).toEqual(['requestHeaders', 'responseHeaders']);
  });
});

describe('a body of 40 MiB', () => {
  // Well above what the sockets of the system take by themselves on the way.
  const size = 40 * 1024 * 1024;
  const block = Buffer.alloc(64 * 1024, 'abcdefgh');
  const whole = createHash('sha256');
  for (let i = 0; i < size; i += block.length) whole.update(block);
  const digest = whole.digest('hex');

  test('waits outside while the processor does not read, and arrives whole', async () => {
    const paused: Seen[] = [];
    const service = await processor(cleanup, {
      requestHeaders: (_part, seen) => {
        seen.call.pause();
        paused.push(seen);
        return { requestHeaders: {} };
      },
    });
    const sum = createHash('sha256');
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.on('data', (chunk: Buffer) => sum.update(chunk));
        request.on('end', () => response.end(sum.digest('hex')));
      },
    });
    const upload = await slowUpload(gateway.http, size, block);
    await eventually('the processor was asked', () => paused.length === 1);
    // Windows of three connections, and buffers of as many sockets: far less than the body.
    expect(await settled('the upload', upload.written)).toBeLessThan(size / 2);
    paused[0]?.call.resume();
    expect(await upload.answer).toContain(digest);
    await nothingOpen(service);
  });

  test('waits outside while the upstream does not read', async () => {
    const service = await processor(cleanup);
    const held: (() => void)[] = [];
    const gateway = await processedGateway(cleanup, service, {
      backend: (request, response) => {
        request.pause();
        held.push(() => {
          const sum = createHash('sha256');
          request.on('data', (chunk: Buffer) => sum.update(chunk));
          request.on('end', () => response.end(sum.digest('hex')));
          request.resume();
        });
      },
    });
    const upload = await slowUpload(gateway.http, size, block);
    await eventually('the upstream was asked', () => held.length === 1);
    expect(await settled('the upload', upload.written)).toBeLessThan(size / 2);
    for (const resume of held) resume();
    expect(await upload.answer).toContain(digest);
    await nothingOpen(service);
  });

  test('waits outside while the client does not read its response', async () => {
    const service = await processor(cleanup);
    let written = 0;
    const gateway = await processedGateway(cleanup, service, {
      backend: (_request, response) => {
        const more = (): void => {
          while (written < size) {
            written += block.length;
            if (!response.write(block)) {
              response.once('drain', more);
              return;
            }
          }
          response.end();
        };
        more();
      },
    });
    const response = await fetch(`http://127.0.0.1:${gateway.http}/a`);
    expect(await settled('the download', () => written)).toBeLessThan(size / 2);
    const sum = createHash('sha256');
    for await (const chunk of response.body ?? []) sum.update(chunk);
    expect(sum.digest('hex')).toBe(digest);
    await nothingOpen(service);
  });
});

/** Writes as fast as the gateway takes it. */
async function slowUpload(port: number, size: number, block: Buffer) {
  const client = new RawClient(port);
  cleanup.add(client);
  let written = 0;
  client.write(`POST /a HTTP/1.1\r\nhost: shop.test\r\ncontent-length: ${size}\r\nconnection: close\r\n\r\n`);
  const more = (): void => {
    while (written < size) {
      written += block.length;
      if (!client.socket.write(block)) {
        client.socket.once('drain', more);
        return;
      }
    }
  };
  more();
  return { written: () => written - client.socket.writableLength, answer: client.closed.then(() => client.text) };
}
