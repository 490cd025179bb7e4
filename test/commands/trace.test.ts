import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { golden } from '../golden.ts';
import { FakeAdmin, traceReply, type FakeHandler } from './fake-admin.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function admin(handler: FakeHandler): Promise<FakeAdmin> {
  const started = await FakeAdmin.start({ '/debug/trace': handler });
  closers.push(() => started.stop());
  return started;
}

/** The port of a server that stands for a listener of the gateway. */
async function listener(status = 200, body = 'hello\n'): Promise<number> {
  const server = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': 'text/plain', 'set-cookie': 'session=verysecret' }).end(body),
  );
  return listening(server);
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const fixture = (name: string): string => new URL(`../fixtures/traces/${name}.jsonl`, import.meta.url).pathname;

const at = (eventEnd: number, message: object, more: object = {}): object => ({
  eventStart: null,
  eventEnd,
  severity: 'info',
  ...more,
  message,
});

/** The events of a request that an engine with request ids sends. */
function requestEvents(id: string, options: { path?: string; status?: number; port?: number } = {}): object[] {
  const { path = '/cart', status = 200, port } = options;
  const request = { method: 'GET', host: 'shop.example', path, pathAndQuery: path, headers: { cookie: 'verysecret' } };
  const source = port === undefined ? {} : { source: { address: '127.0.0.1', port } };
  const rejectedRoutes = [{ route: 'shop/home', failed: 'path', expected: 'exact /', actual: path }];
  return [
    at(10, { type: 'requestStarted' }, { requestId: id, startTime: '2026-01-02T03:04:05.000000Z' }),
    at(
      20,
      { type: 'requestSnapshot', stage: 'initial request', requestState: { request, ...source } },
      { requestId: id },
    ),
    at(
      40,
      {
        type: 'routeSelection',
        selectedRoute: 'shop/cart',
        evaluatedRoutes: ['shop/cart', 'shop/home'],
        rejectedRoutes,
      },
      { requestId: id },
    ),
    at(50, { type: 'backendCallStart', target: '10.0.0.1:80' }, { requestId: id }),
    at(900, { type: 'backendCallResult', status, error: null }, { requestId: id, eventStart: 50 }),
    at(1000, { type: 'requestFinished', status, error: null }, { requestId: id }),
  ];
}

describe('proxy trace from a file', () => {
  test.each(['plain-200', 'no-route-404', 'retry', 'timeout-504', 'many-requests'])(
    '%s prints what was recorded',
    async (name) => {
      const { code, stdout } = await gwctl(['trace', '--file', fixture(name)]);
      expect(code).toBe(0);
      expect(stdout).toBe(golden(`cli/trace-${name}.txt`, stdout));
    },
  );

  test('--raw gives the events back as they are, from stdin too', async () => {
    const recorded = readFileSync(fixture('plain-200'), 'utf8');
    const { stdout } = await gwctl(['proxy', 'trace', '--file', '-', '--raw'], { input: recorded });
    expect(stdout.trimEnd()).toBe(recorded.trimEnd());
  });

  test('a recording that was cut shows what is whole, then says so', async () => {
    const recorded = readFileSync(fixture('plain-200'), 'utf8').trimEnd();
    const { code, stdout, stderr } = await gwctl(['trace', '-f', '-'], { input: recorded.slice(0, -30) });
    expect(code).toBe(1);
    expect(stdout).toContain('Request Start');
    expect(stderr).toContain('cut off in the middle');
  });

  test('a file without events is an error', async () => {
    const { code, stderr } = await gwctl(['trace', '-f', '-'], { input: '' });
    expect([code, stderr.includes('stdin holds no trace events')]).toEqual([1, true]);
  });

  test.each([
    [['--file', 'x', '--expression', 'true'], '--expression does not go with --file'],
    [['--file', 'x', '--port', '1', '--', 'http://a/'], 'a request cannot be sent with --file'],
    [['--local', '--', 'http://a/'], 'a request needs --port'],
    [
      ['--local', '--expression', 'request.path == "/a" &&'],
      '--expression is not an expression: expected an expression, found the end (line 1, column 24)\n\n' +
        '  request.path == "/a" &&\n                         ^\n',
    ],
    [['--local', '--port', '8080'], '--port needs a request behind --'],
    [['--local', '--port', '8080', '--follow', '--', 'http://a/'], '--follow and --count are for watching'],
    [['--local', '--port', '70000', '--', 'http://a/'], 'invalid --port 70000'],
    [['--local', '--port', '80', '--', '--bogus', 'http://a/'], 'the curl option --bogus is not understood'],
    [['--local', '--expect-status', 'ok'], '--expect-status takes a status'],
  ])('%j is wrong usage', async (words, message) => {
    const { code, stderr } = await gwctl(['trace', ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("proxy trace of somebody else's request", () => {
  test('prints the request and ends with the stream', async () => {
    const server = await admin(traceReply(requestEvents('r1')));
    const { code, stdout } = await gwctl(['trace', '--address', server.address]);
    expect(code).toBe(0);
    expect(stdout).toContain('GET shop.example/cart  id r1');
    expect(stdout).toContain('not shop/home: path: expected exact /, got /cart');
    expect(stdout).toContain('slowest step: Backend Result, 850µs (85 %)');
    expect(stdout).toContain('total 1ms, status 200');
  });

  test('--count ends after that many requests of a followed stream', async () => {
    const server = await admin(
      traceReply([...requestEvents('r1'), ...requestEvents('r2'), ...requestEvents('r3')], 'stay'),
    );
    const { code, stdout } = await gwctl(['trace', '--address', server.address, '--count', '2']);
    expect(code).toBe(0);
    expect(stdout.match(/total /g)).toHaveLength(2);
    expect(server.requests).toEqual(['POST /debug/trace?follow=true']);
  });

  test('a server without follow is asked again for each request', async () => {
    const bare = requestEvents('x').map((event) => ({ ...event, requestId: undefined }));
    const server = await admin(traceReply(bare));
    const { code, stdout } = await gwctl(['trace', '--address', server.address, '--count', '3']);
    expect([code, stdout.match(/total /g)?.length]).toEqual([0, 3]);
    expect(server.requests.length).toBeGreaterThanOrEqual(3);
  });

  test('no traffic within --timeout: exit 124', async () => {
    const server = await admin(traceReply([], 'stay'));
    const { code, stderr } = await gwctl(['trace', '--address', server.address, '--timeout', '300ms']);
    expect(code).toBe(124);
    expect(stderr).toContain('no request was traced within 300ms');
  });

  test('a stream that breaks: what came is shown, then the error', async () => {
    const server = await admin(traceReply(requestEvents('r1').slice(0, 3), 'break'));
    const { code, stdout, stderr } = await gwctl(['trace', '--address', server.address]);
    expect(code).toBe(1);
    expect(stdout).toContain('not finished');
    expect(stderr).toContain('broke after 3 events');
  });

  test('a refused expression: the text of the server', async () => {
    const server = await admin({
      status: 400,
      headers: { 'content-type': 'text/plain' },
      body: 'invalid expression: undeclared name "foo"',
    });
    const { code, stderr } = await gwctl(['trace', '--address', server.address, '--expression', 'foo && "a b"']);
    expect(code).toBe(2);
    expect(stderr).toContain('invalid expression: undeclared name "foo"');
    expect(server.requests).toEqual(['POST /debug/trace?expression=foo+%26%26+%22a+b%22']);
  });

  test('an answer that is no event stream: exit 4', async () => {
    const server = await admin({ headers: { 'content-type': 'text/html' }, body: '<html>' });
    expect((await gwctl(['trace', '--address', server.address])).code).toBe(4);
  });

  test('Ctrl-C while following: exit 130, what came stays', async () => {
    const server = await admin(traceReply(requestEvents('r1'), 'stay'));
    const child = startGwctl(['trace', '--address', server.address, '--follow']);
    const end = finished(child);
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (text) => String(text).includes('total') && resolve());
    });
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout.includes('total 1ms'), stderr.includes('Error')]).toEqual([130, true, false]);
  });
});

describe('proxy trace of its own request', () => {
  test('shows the trace and what the client got', async () => {
    const port = await listener();
    const server = await admin(traceReply(requestEvents('r1')));
    const { code, stdout } = await gwctl([
      'trace',
      '--address',
      server.address,
      '--port',
      String(port),
      '--',
      'http://shop.example/cart',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('total 1ms, status 200');
    expect(stdout).toContain('HTTP/1.1 200 OK\n');
    expect(stdout).toContain('\nhello\n');
  });

  test('goes to the port of the URL when --port does not say otherwise', async () => {
    const port = await listener();
    const server = await admin(traceReply(requestEvents('r1')));
    const words = ['trace', '--address', server.address, '--', `http://localhost:${port}/cart`];
    const { code, stdout } = await gwctl(words);
    expect([code, stdout.includes('\nhello\n')]).toEqual([0, true]);
  });

  test('an answer that breaks off is shown as far as it came, and is a failure', async () => {
    const breaking = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('half', () => response.destroy());
    });
    const port = await listening(breaking);
    const server = await admin(traceReply(requestEvents('r1')));
    const words = ['trace', '--address', server.address, '--', `http://localhost:${port}/cart`, '-o', '/nope/out'];
    const { code, stderr } = await gwctl(words);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('Error: the answer is not complete: the connection broke'),
    ]);
  });

  test("another client's request does not use the trace up", async () => {
    const port = await listener();
    const other = requestEvents('other', { path: '/other', port: 1 });
    const server = await admin(traceReply([...other, ...requestEvents('mine')], 'stay'));
    const { code, stdout } = await gwctl([
      'trace',
      '--address',
      server.address,
      '--port',
      String(port),
      '--',
      'http://shop.example/cart',
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain('id mine');
    expect(stdout).not.toContain('id other');
  });

  test('--raw keeps stdout to events; --redact leaves nothing secret', async () => {
    const port = await listener();
    const server = await admin(traceReply(requestEvents('r1')));
    const words = ['trace', '--address', server.address, '--port', String(port)];
    const raw = await gwctl([...words, '--raw', '--', 'http://shop.example/cart']);
    expect(
      raw.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(requestEvents('r1'));
    expect(raw.stderr).toContain('answer: HTTP/1.1 200 OK');
    const redacted = await gwctl([...words, '--redact', '-o', 'text', '--', 'http://shop.example/cart']);
    expect(redacted.stdout).not.toContain('verysecret');
    const redactedRaw = await gwctl([...words, '--redact', '--raw', '--', 'http://shop.example/cart']);
    expect(redactedRaw.stdout).not.toContain('verysecret');
  });

  test('expectations that hold: exit 0; that do not: exit 1 and the difference', async () => {
    const port = await listener();
    const server = await admin(traceReply(requestEvents('r1')));
    const words = (...flags: string[]): string[] => [
      'trace',
      '--address',
      server.address,
      '--port',
      String(port),
      ...flags,
      '--',
      'http://shop.example/cart',
    ];
    const good = await gwctl(
      words(
        '--expect-status',
        '2xx',
        '--expect-route',
        'cart',
        '--expect-backend',
        '10.0.0.1:80',
        '--expect-max-duration',
        '1s',
      ),
    );
    expect([good.code, good.stderr.includes('as expected')]).toEqual([0, true]);
    const bad = await gwctl(
      words(
        '--expect-status',
        '404',
        '--expect-route',
        'home',
        '--expect-policy',
        'cors',
        '--expect-max-duration',
        '1us',
      ),
    );
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain('status\n- expected 404\n+ actual   200\n');
    expect(bad.stderr).toContain(
      'route\n- expected home\n+ actual   shop/cart\n  because  shop/home: path: expected exact /, got /cart\n',
    );
    expect(bad.stderr).toContain('4 expectations were not met');
  });

  test('-o writes the body to a file, --fail makes an error of an error status', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const port = await listener(503, 'sorry');
    const server = await admin(traceReply(requestEvents('r1', { status: 503 })));
    const words = [
      'trace',
      '--address',
      server.address,
      '--port',
      String(port),
      '--',
      '-f',
      '-o',
      `${folder}/body`,
      'http://shop.example/cart',
    ];
    const { code, stderr } = await gwctl(words);
    expect([code, readFileSync(`${folder}/body`, 'utf8')]).toEqual([1, 'sorry']);
    expect(stderr).toContain('the answer has the status 503');
  });

  test('a listener that is not there: exit 4 before anything is traced', async () => {
    const server = await admin(traceReply([], 'stay'));
    const { code, stderr } = await gwctl([
      'trace',
      '--address',
      server.address,
      '--port',
      '1',
      '--',
      'http://shop.example/',
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain('nothing listens on 127.0.0.1:1');
    expect(server.requests).toEqual([]);
  });
});
