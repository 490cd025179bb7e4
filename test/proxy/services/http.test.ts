import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

import type { CallOptions, ServiceRequest } from '../../../proxy/services/contract.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { pem, Rig } from '../backends/rig.ts';
import { openNamed, openService } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

function request(overrides: Partial<ServiceRequest> = {}): ServiceRequest {
  return { method: 'GET', target: '/', authority: null, headers: new Headers(), body: null, ...overrides };
}

function options(overrides: Partial<CallOptions> = {}): CallOptions & { maxResponseBytes: number } {
  return { timeoutMs: null, trace: null, maxResponseBytes: 1000, ...overrides };
}

async function serve(listener: RequestListener): Promise<number> {
  return rig.listen(createServer(listener));
}

describe('an HTTP call of a service', () => {
  test('sends method, target, authority, headers and body, and reads the answer whole', async () => {
    const seen: IncomingMessage[] = [];
    const port = await serve((incoming, response) => {
      seen.push(incoming);
      incoming.pipe(response.setHeader('x-answer', 'yes').writeHead(202));
    });
    const { client, info } = openService(rig, port);
    const answer = await client.http(
      request({
        method: 'POST',
        target: '/check?a=1',
        authority: 'asked.test',
        headers: Headers.from([['x-a', '1']]),
        body: Buffer.from('hello'),
      }),
      options(),
    );
    expect(answer.status).toBe(202);
    expect(answer.headers.get('x-answer')).toBe('yes');
    expect(Buffer.from(answer.body).toString()).toBe('hello');
    expect(seen[0]?.headers).toMatchObject({ host: 'asked.test', 'x-a': '1', 'content-length': '5' });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/check?a=1' });
    expect(info()).toMatchObject({ totalRequests: 1, pendingRequests: 0, health: 1 });
    expect(client.name).toBe(`127.0.0.1:${port}`);
  });

  test('asks a service without a name by its address', async () => {
    const port = await serve((incoming, response) => response.end(incoming.headers.host));
    const { body } = await openService(rig, port).client.http(request(), options());
    expect(Buffer.from(body).toString()).toBe(`127.0.0.1:${port}`);
  });

  test('changes headers as the policies of the connection say, and leaves the caller its own', async () => {
    const port = await serve((incoming, response) => response.end(JSON.stringify(incoming.headers)));
    const modifier = {
      add: [],
      set: [
        ['x-key', 'k'],
        ['host', 'set.test'],
      ],
      remove: ['x-a'],
    } as const;
    const { client } = openService(rig, port, { requestHeaderModifier: modifier });
    const headers = Headers.from([['x-a', '1']]);
    const { body } = await client.http(request({ headers, authority: 'asked.test' }), options());
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ 'x-key': 'k', host: 'set.test' });
    expect(headers.get('x-a')).toBe('1');
  });

  test('goes over TLS as the policies of a named backend say', async () => {
    const tls = { key: pem('a.key'), cert: pem('a.crt') };
    const port = await rig.listen(createTlsServer(tls, (_incoming, response) => response.end('secret')));
    const { client } = openNamed(rig, port, { backendTLS: { verify: 'none' } });
    const { body } = await client.http(request(), options());
    expect(Buffer.from(body).toString()).toBe('secret');
  });

  test('fails as unreachable where nothing listens', async () => {
    const { client, info } = openService(rig, 1);
    await expect(client.http(request(), options())).rejects.toMatchObject({ kind: 'unreachable' });
    expect(info()).toMatchObject({ consecutiveFailures: 1, pendingRequests: 0 });
  });

  test('fails as unreachable when the connection is reset, without telling the address', async () => {
    const port = await rig.raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const failure = await openService(rig, port)
      .client.http(request({ method: 'POST' }), options())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'unreachable' });
    expect(String(failure)).not.toContain('127.0.0.1');
  });

  test('fails as a breach of protocol when the answer is nonsense', async () => {
    const port = await rig.raw((socket) => socket.once('data', () => socket.end('hello there\r\n\r\n')));
    await expect(openService(rig, port).client.http(request(), options())).rejects.toMatchObject({ kind: 'protocol' });
  });

  test('fails when the service does not answer in time', async () => {
    const port = await serve(() => {});
    const { client, info } = openService(rig, port);
    await expect(client.http(request(), options({ timeoutMs: 20 }))).rejects.toMatchObject({ kind: 'timeout' });
    expect(info()).toMatchObject({ consecutiveFailures: 1, lastError: { kind: 'timeout' }, pendingRequests: 0 });
  });

  test('fails when the body of the answer does not end in time', async () => {
    const port = await serve((_incoming, response) => response.writeHead(200).write('begin'));
    const { client, info } = openService(rig, port);
    await expect(client.http(request(), options({ timeoutMs: 50 }))).rejects.toMatchObject({ kind: 'timeout' });
    expect(info()).toMatchObject({ pendingRequests: 0 });
  });

  test('takes the limit of time from the connection before that of the policy', async () => {
    const port = await serve(() => {});
    const { client } = openService(rig, port, { http: { requestTimeoutMs: 20 } });
    await expect(client.http(request(), options({ timeoutMs: 60_000 }))).rejects.toMatchObject({ kind: 'timeout' });
  });

  test.each([
    ['announced', (size: number) => ({ 'content-length': String(size) })],
    ['in drips', () => ({})],
  ])('refuses an answer that is too large, %s', async (_how, headers) => {
    const port = await serve((_incoming, response) => {
      response.writeHead(200, headers(2000));
      response.write('x'.repeat(600));
      response.end('x'.repeat(1400));
    });
    const { client, info } = openService(rig, port);
    await expect(client.http(request(), options())).rejects.toMatchObject({ kind: 'tooLarge' });
    expect(info()).toMatchObject({ pendingRequests: 0 });
  });

  test('is given up with its signal, before and after the head', async () => {
    let arrived: () => void = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const port = await serve((incoming, response) => {
      if (incoming.url === '/slow') response.writeHead(200).write('x', () => arrived());
      else arrived();
    });
    const { client, info } = openService(rig, port);
    for (const target of ['/', '/slow']) {
      const stop = new AbortController();
      const answer = client.http(request({ target }), options({ signal: stop.signal }));
      await arrival;
      stop.abort();
      await expect(answer).rejects.toMatchObject({ kind: 'cancelled' });
    }
    await expect(client.http(request(), options({ signal: AbortSignal.abort() }))).rejects.toMatchObject({
      kind: 'cancelled',
    });
    expect(info()).toMatchObject({ pendingRequests: 0, consecutiveFailures: 0 });
  });

  test('counts answers of the service against its health', async () => {
    const port = await serve((_incoming, response) => response.writeHead(503).end());
    const { client, info } = openService(rig, port);
    await client.http(request(), options());
    expect(info()).toMatchObject({ consecutiveFailures: 1, lastError: { kind: 'status' } });
  });
});
