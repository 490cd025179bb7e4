import { afterEach, expect, test } from '@jest/globals';

import { answerOf, Http2Client, http2Upstream, RawClient } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway that holds whole bodies, in front of an HTTP/2 upstream that sends and gets trailers. */
async function buffering() {
  const seen: unknown[] = [];
  const backend = cleanup.add(
    await http2Upstream((stream) => {
      stream.on('trailers', (trailers) => seen.push(trailers['x-sum']));
      stream.resume();
      stream.on('end', () => {
        stream.respond({ ':status': 200, 'content-length': '4' }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end('done');
      });
    }),
  );
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {buffer: {request: {maxBytes: 1024}, response: {maxBytes: 1024}}}
  backends: [{host: "127.0.0.1:${backend.port}", policies: {http: {version: HTTP/2.0}}}]
`),
  );
  return { port: running.port(80), seen };
}

test('trailers of bodies that are held whole go on over HTTP/2', async () => {
  const { port, seen } = await buffering();
  const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${port}`));
  const stream = client.session.request(
    { ':method': 'POST', ':path': '/a', ':authority': 'shop.test', 'content-length': '5' },
    { waitForTrailers: true },
  );
  stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
  stream.end('hello');
  expect(await answerOf(stream)).toMatchObject({ status: 200, text: 'done', trailers: { 'grpc-status': '0' } });
  expect(seen).toEqual(['1']);
});

test('trailers of bodies that are held whole go on over HTTP/1.1, in chunks', async () => {
  const { port, seen } = await buffering();
  const client = new RawClient(port);
  cleanup.add(client);
  client.write(
    'POST /a HTTP/1.1\r\nhost: shop.test\r\nte: trailers\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n',
  );
  await client.closed;
  expect(client.text).toContain('4\r\ndone\r\n0\r\ngrpc-status: 0\r\n');
  expect(client.text).not.toContain('content-length');
  expect(seen).toEqual(['1']);
});
