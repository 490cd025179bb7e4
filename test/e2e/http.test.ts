import { once } from 'node:events';
import net from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A gateway on port 80 of its configuration with the given routes. */
async function gatewayWith(routes: string) {
  const running = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\nroutes:\n${routes}`));
  return { ...running, ask: (path: string, options?: Ask) => ask(running.port(80), path, options) };
}

describe('a request', () => {
  test('reaches its backend with everything but what belongs to its connection', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const answer = await ask('/a%20b?c=d', {
      method: 'POST',
      headers: { 'x-team': 'red', connection: 'x-hop', 'x-hop': 'no', te: 'trailers' },
      body: 'hello',
    });
    expect(answer.status).toBe(200);
    const seen = JSON.parse(answer.body);
    expect(seen).toMatchObject({ method: 'POST', url: '/a%20b?c=d', body: 'hello' });
    expect(seen.headers).toMatchObject({
      host: 'shop.test',
      'x-team': 'red',
      'content-length': '5',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'shop.test',
      te: 'trailers',
    });
    expect(seen.headers).not.toHaveProperty('x-hop');
  });

  test('gets the host name of its backend as Host', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(`- backends: [{host: "localhost:${server.port}"}]`);
    const { headers } = JSON.parse((await ask('/')).body);
    expect(headers.host).toBe(`localhost:${server.port}`);
    expect(headers['x-forwarded-host']).toBe('shop.test');
  });

  test('keeps its chunked body, and a body of unknown length comes back chunked', async () => {
    const server = cleanup.add(
      await upstream((request, response) => {
        response.write(`${request.headers['transfer-encoding']} `);
        request.pipe(response);
      }),
    );
    const { ask } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const answer = await ask('/', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: 'abc' });
    expect(answer.body).toBe('chunked abc');
    expect(answer.headers['transfer-encoding']).toBe('chunked');
  });

  test.each([
    [
      'no route',
      '- matches: [{path: {exact: /only}}]\n  policies: {directResponse: {status: 200}}',
      '/other',
      404,
      'NotFound',
      'route not found',
    ],
    ['no backend', '- name: empty', '/', 500, 'Internal', 'no valid backends'],
    [
      'a backend that refuses',
      '- backends: [{host: "127.0.0.1:1"}]',
      '/',
      503,
      'UpstreamFailure',
      'upstream call failed: ',
    ],
    [
      'a backend whose name does not resolve',
      '- backends: [{host: "nowhere.invalid:80"}]',
      '/',
      503,
      'UpstreamFailure',
      'backends required DNS resolution which failed',
    ],
    ['an invalid backend', '- backends: [{invalid: null}]', '/', 500, 'Internal', 'backend does not exist'],
  ])('that meets %s is told so, with the reason', async (_name, routes, path, status, reason, message) => {
    const { ask, logged } = await gatewayWith(routes);
    const answer = await ask(path);
    expect(answer.status).toBe(status);
    expect(answer.headers['x-gw-reason']).toBe(reason);
    expect(answer.body).toContain(message);
    await logged(`http.status=${status}`, `reason=${reason}`);
  });

  test('gets its error as gRPC when it is gRPC', async () => {
    const { ask } = await gatewayWith('- matches: []');
    const answer = await ask('/', { headers: { 'content-type': 'application/grpc' } });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers).toMatchObject({
      'grpc-status': '12',
      'grpc-message': 'route not found',
      'x-gw-reason': 'NotFound',
    });
  });

  test('whose body turns out to be broken is logged with what its client was told', async () => {
    const server = cleanup.add(await upstream(() => {}));
    const { port, logged } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const socket = net.connect(port(80), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 400 /);
    await logged('http.status=400', 'error="invalid chunk size"', 'reason=InvalidRequest');
    socket.destroy();
  });

  test('by CONNECT is refused by default', async () => {
    const { port } = await gatewayWith('- policies: {directResponse: {status: 200}}');
    const socket = net.connect(port(80), '127.0.0.1');
    socket.write('CONNECT db.test:5432 HTTP/1.1\r\nHost: db.test:5432\r\n\r\n');
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 405 /);
    socket.destroy();
  });
});

describe('a backend that misbehaves', () => {
  test('by breaking off in the body cuts the client connection instead of ending it in order', async () => {
    const server = cleanup.add(
      await upstream((_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('part', () => response.socket?.resetAndDestroy());
      }),
    );
    const { ask, logged } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    await expect(ask('/')).rejects.toThrow();
    await logged('http.status=200', 'reason=UpstreamFailure');
  });

  test('by not answering at all runs into the request timeout', async () => {
    const server = cleanup.add(await upstream(() => {}));
    const { ask } = await gatewayWith(
      `- policies: {timeout: {requestTimeout: 50ms}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    expect(await ask('/')).toMatchObject({ status: 504, body: 'request timeout' });
  });

  test('is told apart from one that is slow by the limit of its own call', async () => {
    const server = cleanup.add(await upstream(() => {}));
    const { ask } = await gatewayWith(
      `- policies: {timeout: {backendRequestTimeout: 50ms}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    expect(await ask('/')).toMatchObject({ status: 504, body: 'upstream call timeout' });
  });

  test('does not cost the answers of others on reused connections', async () => {
    let count = 0;
    const server = cleanup.add(
      await upstream((request, response) => {
        count += 1;
        if (count % 5 === 0) request.socket.destroy();
        else echo(request, response);
      }),
    );
    const { ask } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const statuses = [];
    for (let n = 0; n < 20; n++) statuses.push((await ask('/')).status);
    expect(new Set(statuses).size).toBeLessThanOrEqual(2);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(16);
  });

  test('sees the call given up when its client goes away', async () => {
    let closed: () => void = () => {};
    let arrived: () => void = () => {};
    const gone = new Promise<void>((resolve) => (closed = resolve));
    const there = new Promise<void>((resolve) => (arrived = resolve));
    const server = cleanup.add(await upstream((request) => (request.socket.on('close', closed), arrived())));
    const { port, logged } = await gatewayWith(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const socket = net.connect(port(80), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await there;
    socket.destroy();
    await gone;
    await logged('client went away');
  });
});

describe('the policies of a route', () => {
  test('retry until an answer is good, and say which attempt it was', async () => {
    const attempts: (string | undefined)[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        attempts.push(request.headers['x-retry-attempt']?.toString());
        if (attempts.length < 3) response.writeHead(503).end();
        else echo(request, response);
      }),
    );
    const { ask, logged } = await gatewayWith(
      `- policies: {retry: {attempts: 2, codes: [503]}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const answer = await ask('/', { method: 'POST', body: 'again' });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).body).toBe('again');
    expect(attempts).toEqual([undefined, '1', '2']);
    await logged('http.status=200', 'retry.attempt=2');
  });

  test('do not send a large body twice', async () => {
    let calls = 0;
    const server = cleanup.add(
      await upstream((request, response) => {
        calls += 1;
        request.resume().on('end', () => response.writeHead(503).end());
      }),
    );
    const { ask } = await gatewayWith(
      `- policies: {retry: {attempts: 2, codes: [503]}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    expect((await ask('/', { method: 'POST', body: 'x'.repeat(70_000) })).status).toBe(503);
    expect(calls).toBe(1);
  });

  test('apply the changes of a backend once per attempt', async () => {
    const seen: unknown[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        seen.push(request.headers['x-from']);
        response.writeHead(503).end();
      }),
    );
    const { ask } = await gatewayWith(
      `- policies: {retry: {attempts: 1, codes: [503]}}\n  backends: [{host: "127.0.0.1:${server.port}", policies: {requestHeaderModifier: {add: {x-from: gw}}}}]`,
    );
    await ask('/');
    expect(seen).toEqual(['gw', 'gw']);
  });

  test('answer, redirect, rewrite and change headers', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(`
- matches: [{path: {exact: /hello}}]
  policies: {directResponse: {status: 418, body: short and stout}, responseHeaderModifier: {set: {x-by: gateway}}}
- matches: [{path: {pathPrefix: /old}}]
  policies: {requestRedirect: {path: {prefix: /new}, status: 301}}
- matches: [{path: {pathPrefix: /api}}]
  policies: {urlRewrite: {authority: {full: inner.test}, path: {prefix: /}}, requestHeaderModifier: {set: {x-a: "1"}, remove: [x-b]}}
  backends: [{host: "127.0.0.1:${server.port}"}]`);
    expect(await ask('/hello')).toMatchObject({ status: 418, body: 'short and stout', headers: { 'x-by': 'gateway' } });
    expect(await ask('/old/page?q=1')).toMatchObject({
      status: 301,
      headers: { location: 'http://shop.test/new/page?q=1' },
    });
    const seen = JSON.parse((await ask('/api/users?q=1', { headers: { 'x-b': 'gone' } })).body);
    expect(seen).toMatchObject({ url: '/users?q=1', headers: { host: 'inner.test', 'x-a': '1' } });
    expect(seen.headers).not.toHaveProperty('x-b');
  });

  test('buffer within a limit and refuse beyond it', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith(
      `- policies: {buffer: {request: {maxBytes: 10}}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const chunked = { 'transfer-encoding': 'chunked' };
    const small = await ask('/', { method: 'POST', headers: chunked, body: 'small' });
    expect(JSON.parse(small.body)).toMatchObject({ body: 'small', headers: { 'content-length': '5' } });
    expect(await ask('/', { method: 'POST', headers: chunked, body: 'much too large' })).toMatchObject({
      status: 413,
      body: '',
    });
  });

  test('mirror the request with its body, and nobody waits for the mirror', async () => {
    let mirrored: (text: string) => void = () => {};
    const copy = new Promise<string>((resolve) => (mirrored = resolve));
    const server = cleanup.add(await upstream(echo));
    const mirror = cleanup.add(
      await upstream((request) => {
        let text = '';
        request
          .on('data', (chunk: Buffer) => (text += chunk.toString()))
          .on('end', () => mirrored(`${request.method} ${request.url} ${text}`));
      }),
    );
    const { ask } = await gatewayWith(
      `- policies: {requestMirror: {backend: {host: "127.0.0.1:${mirror.port}"}, percentage: 1.0}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    expect((await ask('/m', { method: 'POST', body: 'twice' })).status).toBe(200);
    expect(await copy).toBe('POST /m twice');
  });

  test('mirror to nobody without harm, and tell when it begins and ends', async () => {
    const server = cleanup.add(await upstream(echo));
    let takes = false;
    const mirror = cleanup.add(
      await upstream((request, response) => (takes ? response.end() : request.socket.destroy())),
    );
    const running = await gatewayWith(
      `- policies: {requestMirror: {backend: {host: "127.0.0.1:${mirror.port}"}, percentage: 1.0}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    expect((await running.ask('/')).status).toBe(200);
    await running.logged('warn', 'mirrored requests fail', 'connection closed by upstream');
    takes = true;
    expect((await running.ask('/')).status).toBe(200);
    await running.logged('info', 'mirrored requests arrive again', 'lost=1');
  });

  test('delay a request, within its timeout', async () => {
    const { ask } = await gatewayWith(
      '- policies: {delay: {duration: 1h}, timeout: {requestTimeout: 30ms}, directResponse: {status: 200}}',
    );
    expect(await ask('/')).toMatchObject({ status: 504, body: 'request timeout' });
  });
});

describe('routes', () => {
  test('are chosen by precedence and delegate to groups', async () => {
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routeGroups:
- name: team
  routes:
  - {name: inner, matches: [{path: {pathPrefix: /team/a}}], policies: {directResponse: {status: 200, body: inner}}}
routes:
- {name: any, policies: {directResponse: {status: 200, body: any}}}
- {name: team, matches: [{path: {pathPrefix: /team}}], backends: [{routeGroup: team}]}
- {name: header, matches: [{headers: [{name: x-a, value: {exact: "1"}}]}], policies: {directResponse: {status: 200, body: header}}}`),
    );
    const body = async (path: string, options?: Ask) => (await ask(running.port(80), path, options)).body;
    expect(await body('/')).toBe('any');
    expect(await body('/', { headers: { 'x-a': '1' } })).toBe('header');
    expect(await body('/team/a/b')).toBe('inner');
    expect(await body('/team/x')).toBe('route not found');
  });

  test('share the traffic by weight', async () => {
    const first = cleanup.add(await upstream((_request, response) => response.end('first')));
    const second = cleanup.add(await upstream((_request, response) => response.end('second')));
    const { ask } = await gatewayWith(
      `- backends: [{host: "127.0.0.1:${first.port}", weight: 0}, {host: "127.0.0.1:${second.port}", weight: 3}]`,
    );
    const bodies = await Promise.all(Array.from({ length: 20 }, () => ask('/')));
    expect(new Set(bodies.map((answer) => answer.body))).toEqual(new Set(['second']));
  });

  test('hand requests of internal backends to the admin router', async () => {
    const { ask } = await gatewayWith('- backends: [{internal: /config_status}]');
    expect(JSON.parse((await ask('/anything')).body)).toHaveProperty('live.revision');
  });

  test('reach what the request names through a dynamic backend', async () => {
    const server = cleanup.add(await upstream(echo));
    const { ask } = await gatewayWith('- backends: [{dynamic: {}}]');
    const answer = await ask('/there', { headers: { host: `127.0.0.1:${server.port}` } });
    expect(JSON.parse(answer.body)).toMatchObject({ url: '/there', headers: { host: `127.0.0.1:${server.port}` } });
  });
});
