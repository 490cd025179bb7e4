import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import { createSecureServer } from 'node:http2';
import { createServer as createTcp, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCurlArgs } from '../../src/admin/inject/curl-args.ts';
import { planRequest, type RequestPlan } from '../../src/admin/inject/plan.ts';
import type { Answer } from '../../src/admin/inject/answer.ts';
import { openConnection } from '../../src/admin/inject/send.ts';

let folder = '';
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true });
});

async function plan(...words: readonly string[]): Promise<RequestPlan> {
  return planRequest(parseCurlArgs(words), async () => Buffer.from('from stdin'));
}

const headersOf = (made: RequestPlan): Record<string, string> =>
  Object.fromEntries(made.headers.map(([name, value]) => [name.toLowerCase(), value]));
const bodyOf = (made: RequestPlan): string | undefined =>
  made.body === undefined ? undefined : Buffer.from(made.body).toString();

describe("reading curl's words", () => {
  test('an option value that looks like a URL is no URL', () => {
    expect(parseCurlArgs(['-e', 'http://elsewhere/', '-H', 'Origin: http://other', 'http://shop/']).url.href).toBe(
      'http://shop/',
    );
  });

  test('clusters, attached values and options behind the URL', async () => {
    const made = await plan('-skXPUT', 'https://a/', '-dx=1', '-Hx: y');
    expect([made.method, bodyOf(made), made.tls.insecure, headersOf(made)['x']]).toEqual(['PUT', 'x=1', true, 'y']);
  });

  test('a URL without a scheme is http', () => {
    expect(parseCurlArgs(['localhost:8080/x']).url.href).toBe('http://localhost:8080/x');
  });

  test.each([
    [['-L', 'http://a/'], /-L has no place/],
    [['--proxy', 'http://p/', 'http://a/'], /--proxy has no place/],
    [['--bogus', 'http://a/'], /--bogus is not understood/],
    [['-Z', 'http://a/'], /-Z is not understood/],
    [['http://a/', 'http://b/'], /several URLs/],
    [['-H', 'x: y'], /no URL/],
    [['ftp://a/'], /scheme ftp/],
    [['http://'], /not a URL/],
    [['-X'], /-X needs a value/],
    [['__proto__:', '--constructor'], /--constructor is not understood/],
  ])('%j is refused', (words, message) => {
    expect(() => parseCurlArgs(words)).toThrow(message);
  });
});

describe('planning a request as curl would', () => {
  test('data makes a POST, pieces are joined, files lose their line ends with -d only', async () => {
    writeFileSync(join(folder, 'data'), 'a\r\nb\n');
    const made = await plan('-d', 'x=1', '-d', `@${folder}/data`, 'http://a/');
    expect([made.method, bodyOf(made), headersOf(made)['content-type']]).toEqual([
      'POST',
      'x=1&ab',
      'application/x-www-form-urlencoded',
    ]);
    expect(bodyOf(await plan('--data-binary', `@${folder}/data`, 'http://a/'))).toBe('a\r\nb\n');
    expect(bodyOf(await plan('--data-raw', '@x', 'http://a/'))).toBe('@x');
    expect(bodyOf(await plan('-d', '@-', 'http://a/'))).toBe('from stdin');
    expect(bodyOf(await plan('--data-urlencode', 'q=a b&c', 'http://a/'))).toBe('q=a%20b%26c');
  });

  test('--json sets both headers, -G moves data to the query, -I asks for the head, -T uploads', async () => {
    const json = await plan('--json', '{"a":1}', 'http://a/');
    expect([headersOf(json)['content-type'], headersOf(json)['accept']]).toEqual([
      'application/json',
      'application/json',
    ]);
    const get = await plan('-G', '-d', 'a=1', 'http://a/?b=2');
    expect([get.method, get.url.search, get.body]).toEqual(['GET', '?b=2&a=1', undefined]);
    expect((await plan('-I', 'http://a/')).method).toBe('HEAD');
    expect((await plan('-T', '-', 'http://a/')).method).toBe('PUT');
  });

  test('headers are replaced, emptied, left out, repeated', async () => {
    const made = await plan(
      '-H',
      'accept: text/css',
      '-H',
      'X-Empty;',
      '-H',
      'User-Agent:',
      '-H',
      'a: 1',
      '-H',
      'a: 2',
      'http://a/',
    );
    expect(made.headers).toEqual([
      ['Host', 'a'],
      ['accept', 'text/css'],
      ['X-Empty', ''],
      ['a', '1'],
      ['a', '2'],
    ]);
  });

  test('credentials, cookies and the agent', async () => {
    const made = headersOf(await plan('-u', 'me:pw', '-b', 'c=1', '-A', 'agent', '-e', 'http://r/;auto', 'http://a/'));
    expect(made).toMatchObject({
      authorization: `Basic ${Buffer.from('me:pw').toString('base64')}`,
      cookie: 'c=1',
      'user-agent': 'agent',
      referer: 'http://r/',
    });
    expect(headersOf(await plan('http://u:p@a/'))['authorization']).toBe(
      `Basic ${Buffer.from('u:p').toString('base64')}`,
    );
  });

  test.each([
    [['-d', '@/nonexistent', 'http://a/'], /cannot read \/nonexistent/],
    [['-H', 'no colon', 'http://a/'], /not a header/],
    [['-H', 'a: b\r\nc: d', 'http://a/'], /line break/],
    [['-X', 'GET IT', 'http://a/'], /not a method/],
    [['-b', 'jar.txt', 'http://a/'], /cookie file/],
    [['-m', '-1', 'http://a/'], /takes seconds/],
    [['--http2', 'http://a/'], /needs an https URL/],
  ])('%j is refused', async (words, message) => {
    await expect(plan(...words)).rejects.toThrow(message);
  });
});

async function listen<T extends Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function send(port: number, ...words: readonly string[]): Promise<Answer> {
  const connection = await openConnection(
    await plan(...words),
    { host: '127.0.0.1', port },
    { signal: new AbortController().signal, maxBodyBytes: 8 },
  );
  return connection.send();
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    response.writeHead(201, [
      'X-Seen',
      `${request.method} ${request.url} ${request.headers.host}`,
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
    ]);
    response.end(Buffer.concat(parts));
  });
}

const tls = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8');
const tlsPath = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname;

describe('sending it', () => {
  test('HTTP/1.1: the connection goes to the port, the Host is that of the URL, the answer is kept up to the limit', async () => {
    const port = await listen(createServer(echo));
    const answer = await send(port, '-d', '0123456789', 'http://shop.example/p?q=1');
    expect(answer).toMatchObject({ status: 201, httpVersion: '1.1', bodyBytes: 10, failure: undefined });
    expect(answer.body.toString()).toBe('01234567');
    expect(answer.headers).toEqual(
      expect.arrayContaining([
        ['X-Seen', 'POST /p?q=1 shop.example'],
        ['Set-Cookie', 'a=1'],
        ['Set-Cookie', 'b=2'],
      ]),
    );
  });

  test('HTTP/2 with prior knowledge', async () => {
    const server = createHttp2((request, response) => {
      response.writeHead(200, { 'x-seen': `${request.authority} ${request.method} ${request.headers['user-agent']}` });
      response.end('ok');
    });
    const port = await listen(server);
    const answer = await send(port, '--http2-prior-knowledge', 'http://shop.example/');
    expect(answer).toMatchObject({ status: 200, httpVersion: '2', bodyBytes: 2 });
    expect(answer.headers).toContainEqual(['x-seen', 'shop.example GET gwctl']);
  });

  test('HTTPS by ALPN: an unknown authority is refused, --cacert or -k accept it', async () => {
    const server = createSecureServer(
      { cert: tls('a.crt'), key: tls('a.key'), allowHTTP1: true },
      (request, response) => {
        response.end(request.httpVersion);
      },
    );
    const port = await listen(server as unknown as Server);
    await expect(send(port, 'https://a.example/')).rejects.toMatchObject({ code: 'GW_UNTRUSTED' });
    expect((await send(port, '-k', 'https://a.example/')).body.toString()).toBe('2.0');
    expect((await send(port, '-k', '--http1.1', 'https://a.example/')).body.toString()).toBe('1.1');
    await expect(send(port, '--cacert', tlsPath('client-ca.crt'), 'https://a.example/')).rejects.toMatchObject({
      code: 'GW_UNTRUSTED',
    });
  });

  test('nobody listens, plain HTTP behind https, garbage, a reset, a body that breaks off, silence', async () => {
    await expect(send(1, 'http://a/')).rejects.toMatchObject({ code: 'GW_UNREACHABLE' });
    const plainPort = await listen(createServer(echo));
    await expect(send(plainPort, '-k', 'https://a/')).rejects.toMatchObject({
      code: 'GW_TLS',
      message: expect.stringMatching(/failed: [^:]+$/),
    });
    const garbage = await listen(createTcp((socket) => void socket.on('error', () => {}).end('hello there\n\n')));
    await expect(send(garbage, 'http://a/')).rejects.toMatchObject({ code: 'GW_NO_ANSWER' });
    const reset = await listen(
      createTcp((socket) => void socket.on('error', () => {}).once('data', () => socket.resetAndDestroy())),
    );
    await expect(send(reset, 'http://a/')).rejects.toMatchObject({ code: 'GW_NO_ANSWER' });
    const cut = await listen(
      createTcp(
        (socket) =>
          void socket
            .on('error', () => {})
            .once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')),
      ),
    );
    const answer = await send(cut, 'http://a/');
    expect([answer.status, answer.body.toString(), answer.failure === undefined]).toEqual([200, 'abc', false]);
    const silent = await listen(createTcp((socket) => void socket.on('error', () => {}).on('data', () => {})));
    await expect(send(silent, '-m', '0.1', 'http://a/')).rejects.toMatchObject({ code: 'GW_TIMEOUT' });
  });
});
