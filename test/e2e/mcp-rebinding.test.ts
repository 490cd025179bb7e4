/** Pages that reach the gateway by a name which was made to point to it, on every way that a host can be named. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Http2Client, RawClient } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';
import { facing, type Facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
let asked: string[] = [];
let gateway: Facing;

beforeEach(async () => {
  asked = [];
  const target = cleanup.add(
    await upstream((request, response) => {
      asked.push(request.url ?? '');
      response.end('{}');
    }),
  );
  gateway = await facing(
    cleanup,
    `routes:
- policies: {urlRewrite: {authority: {full: localhost}}}
  backends:
  - mcp: {dnsRebindingProtection: true, targets: [{name: t, mcp: {host: "127.0.0.1:${target.port}"}}]}
`,
  );
});

async function status(head: string): Promise<number> {
  const client = cleanup.add(new RawClient(gateway.http));
  const length = head.startsWith('POST') ? `content-length: ${BODY.length}\r\n` : '';
  client.write(`${head}\r\n${length}connection: close\r\n\r\n${length === '' ? '' : BODY}`);
  await client.closed;
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(client.text)?.[1]);
}

describe('over HTTP/1', () => {
  // Further than this: what the client accepts is looked at next.
  const PASSED = 406;

  test.each([
    ['its own name', 'POST /mcp HTTP/1.1\r\nhost: LocalHost:3000', PASSED],
    ['its own address', 'POST /mcp HTTP/1.1\r\nhost: [::1]:3000', PASSED],
    ['another name', 'POST /mcp HTTP/1.1\r\nhost: evil.test', 403],
    ['another name, where the route says another', 'POST /mcp HTTP/1.1\r\nhost: evil.test:80', 403],
    ['a name that begins like it', 'POST /mcp HTTP/1.1\r\nhost: localhost.evil.test', 403],
    ['an address of every interface', 'POST /mcp HTTP/1.1\r\nhost: 0.0.0.0:80', 403],
    ['another name in the absolute form', 'POST http://evil.test/mcp HTTP/1.1\r\nhost: localhost', 403],
    ['its own in the absolute form', 'POST http://localhost/mcp HTTP/1.1\r\nhost: evil.test', PASSED],
    ['no name', 'POST /mcp HTTP/1.1', 400],
    ['an empty one', 'POST /mcp HTTP/1.1\r\nhost:', 403],
    ['two', 'POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: evil.test', 400],
    ['no name, as the oldest clients', 'POST /mcp HTTP/1.0', 403],
    ['an origin of its own', 'POST /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:5173', PASSED],
    ['another origin', 'POST /mcp HTTP/1.1\r\nhost: localhost\r\norigin: https://evil.test', 403],
    ['an origin that is none', 'POST /mcp HTTP/1.1\r\nhost: localhost\r\norigin: null', 403],
    [
      'two origins',
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\norigin: http://localhost',
      403,
    ],
    [
      'another name, asked for what it says of its login',
      'GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nhost: evil.test',
      403,
    ],
    ['another name, for the older transport', 'GET /sse HTTP/1.1\r\nhost: evil.test', 403],
    ['another name, before a page asks', 'OPTIONS /mcp HTTP/1.1\r\nhost: evil.test', 403],
  ])('%s', async (_what, head, expected) => {
    expect(await status(head)).toBe(expected);
    expect(asked).toEqual([]);
  });

  test('its own name, asked for what its only server says of its login', async () => {
    expect(await status('GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nhost: localhost')).toBe(200);
    expect(asked).toEqual(['/.well-known/oauth-protected-resource/mcp']);
  });
});

describe('over HTTP/2', () => {
  test.each([
    [{ ':authority': 'localhost:1' }, 406],
    [{ ':authority': 'evil.test' }, 403],
    [{ ':authority': 'evil.test', origin: 'http://localhost' }, 403],
    [{ ':authority': 'localhost', origin: 'http://evil.test' }, 403],
    [{ ':authority': 'evil.test', host: 'localhost' }, 400],
  ])('%j', async (headers, expected) => {
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const answer = await client.ask({ ':method': 'POST', ':path': '/mcp', ...headers }, BODY);
    expect(answer.headers[':status']).toBe(expected);
    expect(asked).toEqual([]);
  });
});
