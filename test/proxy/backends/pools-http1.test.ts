import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { type Body, BufferedBody } from '../../../proxy/exchange/body.ts';
import { Http1Client } from '../../../proxy/http1/client.ts';
import { FieldParser } from '../../../proxy/http1/fields.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { fetchText, fixedResolver, originOf, readBody, requestTo, Rig } from './rig.ts';

const rig = new Rig();
afterEach(() => rig.end());

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

function answering(socket: Socket, answer: string = OK): void {
  socket.on('data', () => socket.write(answer));
}

async function failure(promise: Promise<unknown>): Promise<UpstreamError> {
  const error: unknown = await promise.then(
    () => new Error('did not fail'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof UpstreamError) return error;
  throw error;
}

describe('HTTP/1.1 connections', () => {
  test('are used again for the next call', async () => {
    let connections = 0;
    const port = await rig.raw((socket) => {
      connections += 1;
      answering(socket);
    });
    const pools = rig.pools();
    for (let i = 0; i < 5; i++) expect(await fetchText(pools, originOf(port))).toBe('200 ok');
    expect(connections).toBe(1);
  });

  test('serve as many calls at a time as there are connections, and keep no more idle than allowed', async () => {
    const sockets: Socket[] = [];
    const waiting: (() => void)[] = [];
    const port = await rig.raw((socket) => {
      sockets.push(socket);
      socket.on('data', () => {
        waiting.push(() => socket.write(OK));
        if (waiting.length === 4) for (const answer of waiting.splice(0)) answer();
      });
    });
    const pools = rig.pools({ poolMaxSize: 1 });
    const origin = originOf(port);
    const closed: Promise<unknown>[] = [];
    const calls = [1, 2, 3, 4].map(() => fetchText(pools, origin));
    expect(await Promise.all(calls)).toEqual(['200 ok', '200 ok', '200 ok', '200 ok']);
    for (const socket of sockets) if (!socket.destroyed) closed.push(once(socket, 'close'));
    expect(sockets).toHaveLength(4);
    // Three of the four go; which ones does not matter.
    await Promise.race([Promise.all(closed.slice(0, 3)), Promise.all(closed.slice(1))]);
  });

  test('are closed after the idle timeout', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await rig.raw((socket) => {
      answering(socket);
      socket.on('close', () => closed.resolve());
    });
    const pools = rig.pools({ poolIdleTimeoutMs: 3000 });
    await fetchText(pools, originOf(port));
    pools.sweep();
    pools.sweep();
    pools.sweep();
    await closed.promise;
    expect(await fetchText(pools, originOf(port))).toBe('200 ok');
  });

  test('are not used beyond the keep-alive timeout that the upstream announces', async () => {
    let connections = 0;
    const port = await rig.raw((socket) => {
      connections += 1;
      answering(socket, 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=3\r\ncontent-length: 2\r\n\r\nok');
    });
    const pools = rig.pools();
    await fetchText(pools, originOf(port));
    pools.sweep();
    await fetchText(pools, originOf(port));
    expect(connections).toBe(1);
    pools.sweep();
    pools.sweep();
    await fetchText(pools, originOf(port));
    expect(connections).toBe(2);
  });

  test('that the upstream closed while idle are not used', async () => {
    const first = Promise.withResolvers<Socket>();
    const port = await rig.raw((socket, index) => {
      answering(socket);
      if (index === 0) first.resolve(socket);
    });
    const noticed = Promise.withResolvers<void>();
    const fields = new FieldParser({ keepSpelling: false });
    const limits = { maxHeadBytes: 65_536, maxHeaders: 100, preserveCase: false };
    const pools = rig.pools({
      http1: (socket, peer) => {
        const client = new Http1Client(socket, { ...limits, peer, fields });
        socket.once('close', () => noticed.resolve());
        return client;
      },
    });
    await fetchText(pools, originOf(port));
    (await first.promise).destroy();
    await noticed.promise;
    expect(await fetchText(pools, originOf(port), requestTo('/', { method: 'POST' }))).toBe('200 ok');
  });

  test('that die at the moment of reuse cost a GET nothing', async () => {
    const heads: string[] = [];
    const port = await rig.raw((socket, index) => {
      let served = 0;
      socket.on('data', (chunk) => {
        heads.push(`${index} ${chunk.toString().split(' ', 2).join(' ')}`);
        served += 1;
        if (index === 0 && served === 2) socket.resetAndDestroy();
        else socket.write(OK);
      });
    });
    const pools = rig.pools();
    await fetchText(pools, originOf(port));
    expect(await fetchText(pools, originOf(port), requestTo('/again'))).toBe('200 ok');
    expect(heads).toEqual(['0 GET /', '0 GET /again', '1 GET /again']);
  });

  test('that die at the moment of reuse fail a POST, which may have had its effect', async () => {
    const port = await rig.raw((socket) => {
      let served = 0;
      socket.on('data', () => {
        served += 1;
        if (served === 2) socket.resetAndDestroy();
        else socket.write(OK);
      });
    });
    const pools = rig.pools();
    await fetchText(pools, originOf(port));
    const body = new BufferedBody(Buffer.from('pay'));
    const error = await failure(pools.send(originOf(port), requestTo('/', { method: 'POST', body })).response);
    expect(error.kind).toBe('reset');
  });

  test('are tried again only once', async () => {
    let connections = 0;
    const port = await rig.raw((socket, index) => {
      connections += 1;
      let served = 0;
      socket.on('data', () => {
        served += 1;
        if (index > 0 || served === 2) socket.resetAndDestroy();
        else socket.write(OK);
      });
    });
    const pools = rig.pools();
    await fetchText(pools, originOf(port));
    expect((await failure(fetchText(pools, originOf(port)))).kind).toBe('reset');
    expect(connections).toBe(2);
  });
});

describe('an upstream that misbehaves', () => {
  test('refuses: kind connect, with the peer that was tried', async () => {
    const server = createNetServer();
    const port = await rig.listen(server);
    await new Promise((resolve) => server.close(resolve));
    const error = await failure(fetchText(rig.pools(), originOf(port)));
    expect([error.kind, error.message, error.peer]).toEqual(['connect', 'connection refused', `127.0.0.1:${port}`]);
  });

  test('never completes TLS: kind connectTimeout', async () => {
    const port = await rig.raw(() => {});
    const origin = originOf(port, { tls: { verify: 'none' }, connectTimeoutMs: 30 });
    expect((await failure(fetchText(rig.pools(), origin))).kind).toBe('connectTimeout');
  });

  test('never answers: the call can be given up, and its connection is closed', async () => {
    const seen = Promise.withResolvers<Socket>();
    const port = await rig.raw((socket) => socket.once('data', () => seen.resolve(socket)));
    const call = rig.pools().send(originOf(port), requestTo('/'));
    const socket = await seen.promise;
    call.cancel();
    expect((await failure(call.response)).kind).toBe('cancelled');
    if (!socket.destroyed) await once(socket, 'close');
  });

  test('a call given up before it has a connection is cancelled too', async () => {
    const port = await rig.raw((socket) => answering(socket));
    const pools = rig.pools();
    const call = pools.send(originOf(port), requestTo('/'));
    call.cancel();
    expect((await failure(call.response)).kind).toBe('cancelled');
    expect(await fetchText(pools, originOf(port))).toBe('200 ok');
  });

  test('resets in the head: kind reset', async () => {
    const port = await rig.raw((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 O', () => socket.resetAndDestroy())),
    );
    expect((await failure(fetchText(rig.pools(), originOf(port)))).kind).toBe('reset');
  });

  test('resets in the body: the head is delivered, the body breaks', async () => {
    const port = await rig.raw((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf', () => socket.end())),
    );
    const response = await rig.pools().send(originOf(port), requestTo('/')).response;
    expect(response.status).toBe(200);
    await expect(readBody(response.body)).rejects.toThrow('connection closed by upstream');
  });

  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}`],
  ])('sends %s: kind protocol', async (_name, bytes) => {
    const port = await rig.raw((socket) => socket.once('data', () => socket.write(bytes)));
    expect((await failure(fetchText(rig.pools(), originOf(port)))).kind).toBe('protocol');
  });

  test('sends its answer byte by byte: it arrives', async () => {
    const port = await rig.raw((socket) =>
      socket.once('data', async () => {
        for (const byte of OK) await new Promise<void>((resolve) => socket.write(byte, () => setImmediate(resolve)));
      }),
    );
    expect(await fetchText(rig.pools(), originOf(port))).toBe('200 ok');
  });

  test('has a dead address beside a living one: the living one is used', async () => {
    const port = await rig.raw((socket) => answering(socket));
    const pools = rig.pools({ resolver: fixedResolver('127.0.0.2', '127.0.0.1') });
    expect(await fetchText(pools, originOf({ kind: 'tcp', host: 'name.test', port }))).toBe('200 ok');
  });

  test('has no address: kind dns', async () => {
    const resolver = { resolve: () => Promise.reject(new UpstreamError('dns', 'cannot resolve name.test')) };
    const error = await failure(
      fetchText(rig.pools({ resolver }), originOf({ kind: 'tcp', host: 'name.test', port: 1 })),
    );
    expect(error.kind).toBe('dns');
  });
});

describe('bodies', () => {
  test('stream both ways through a server', async () => {
    const port = await rig.listen(createServer((request, response) => void request.pipe(response)));
    const body = new BufferedBody(Buffer.alloc(300_000, 'x'));
    const response = await rig.pools().send(originOf(port), requestTo('/', { method: 'POST', body })).response;
    expect((await readBody(response.body)).text).toHaveLength(300_000);
  });

  test('that are not read hold the upstream back', async () => {
    let written = 0;
    const stalled = Promise.withResolvers<Socket>();
    const port = await rig.raw((socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${2 ** 30}\r\n\r\n`);
        const chunk = Buffer.alloc(64 * 1024);
        while (socket.write(chunk)) written += chunk.length;
        stalled.resolve(socket);
      }),
    );
    const response = await rig.pools().send(originOf(port), requestTo('/')).response;
    const socket = await stalled.promise;
    let received = 0;
    response.body.pipe({
      onData: (chunk) => {
        received += chunk.byteLength;
        response.body.pause();
      },
      onEnd() {},
      onError() {},
    });
    while (received === 0) await new Promise((resolve) => setImmediate(resolve));
    const paused = received;
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(received).toBe(paused);
    expect(written).toBeLessThan(2 ** 26);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    response.body.cancel();
    await closed;
  });

  test('of unknown length are sent chunked, trailers included', async () => {
    const trailers = Promise.withResolvers<unknown>();
    const port = await rig.listen(
      createServer((request, response) => {
        request.resume().on('end', () => {
          trailers.resolve(request.trailers);
          response.end('ok');
        });
      }),
    );
    const body: Body = {
      length: null,
      pipe(sink) {
        sink.onData(Buffer.from('a'));
        sink.onEnd(Headers.from([['x-sum', '97']]));
      },
      pause() {},
      resume() {},
      cancel() {},
    };
    expect(await fetchText(rig.pools(), originOf(port), requestTo('/', { method: 'PUT', body }))).toBe('200 ok');
    expect(await trailers.promise).toEqual({ 'x-sum': '97' });
  });
});

describe('kinds of addresses and uses', () => {
  test('a unix socket', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gwctl-unix-'));
    rig.cleanup(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'upstream.sock');
    await rig.listen(
      createServer((_request, response) => void response.end('unix')),
      { path },
    );
    const response = await rig.pools().send(originOf({ kind: 'unix', path }), requestTo('/')).response;
    expect(response.peer).toBe(path);
    expect((await readBody(response.body)).text).toBe('unix');
  });

  test('a unix socket that is not there', async () => {
    const error = await failure(fetchText(rig.pools(), originOf({ kind: 'unix', path: '/nonexistent/a.sock' })));
    expect([error.kind, error.message]).toEqual(['connect', 'socket does not exist']);
  });

  test('an IPv6 literal', async () => {
    const port = await rig.raw((socket) => answering(socket), '::1').catch(() => null);
    if (port === null) {
      console.warn('skipped: this machine has no ::1');
      return;
    }
    const response = await rig.pools().send(originOf({ kind: 'tcp', host: '::1', port }), requestTo('/')).response;
    response.body.cancel();
    expect(response.peer).toBe(`[::1]:${port}`);
  });

  test('an upgrade hands out the raw connection', async () => {
    const port = await rig.raw((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhello');
        socket.on('data', (chunk) => socket.write(chunk));
      }),
    );
    const response = await rig.pools().send(originOf(port), requestTo('/', { upgrade: 'echo' })).response;
    const raw = response.upgraded;
    if (raw === null) throw new Error('not upgraded');
    raw.resume();
    expect(String((await once(raw, 'data'))[0])).toBe('hello');
    raw.write('again');
    expect(String((await once(raw, 'data'))[0])).toBe('again');
    raw.destroy();
  });

  test('a tunnel is a plain byte stream', async () => {
    const port = await rig.raw((socket) => socket.pipe(socket));
    const tunnel = await rig.pools().openTunnel(originOf(port));
    tunnel.write('bytes');
    expect(String((await once(tunnel, 'data'))[0])).toBe('bytes');
    tunnel.destroy();
  });
});

describe('the pools as a whole', () => {
  test('close what origins have idle that are not used any more', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await rig.raw((socket) => {
      answering(socket);
      socket.on('close', () => closed.resolve());
    });
    const pools = rig.pools();
    await fetchText(pools, originOf(port));
    pools.retainOnly(new Set());
    await closed.promise;
    expect(await fetchText(pools, originOf(port))).toBe('200 ok');
  });

  test('bound the origins that requests name', async () => {
    const closed = Promise.withResolvers<void>();
    const first = await rig.raw((socket) => {
      answering(socket);
      socket.on('close', () => closed.resolve());
    });
    const second = await rig.raw((socket) => answering(socket));
    const pools = rig.pools({ maxEphemeralOrigins: 1 });
    await fetchText(pools, { ...originOf(first), ephemeral: true });
    expect(await fetchText(pools, { ...originOf(second), ephemeral: true })).toBe('200 ok');
    await closed.promise;
  });

  test('leave nothing open after close, and fail what is in flight', async () => {
    const seen = Promise.withResolvers<void>();
    const gone: Promise<unknown>[] = [];
    const port = await rig.raw((socket, index) => {
      gone.push(once(socket, 'close'));
      if (index === 0) answering(socket);
      else socket.once('data', () => seen.resolve());
    });
    const pools = rig.pools();
    const origin = originOf(port);
    const idle = fetchText(pools, origin);
    await idle;
    const other = { ...origin, key: 'other' };
    const hanging = failure(fetchText(pools, other));
    await seen.promise;
    const dialing = failure(fetchText(pools, originOf(port, { tls: { verify: 'none' } })));
    pools.close();
    expect((await hanging).kind).toBe('cancelled');
    expect((await dialing).kind).toBe('cancelled');
    expect((await failure(fetchText(pools, origin))).kind).toBe('cancelled');
    await Promise.all(gone);
  });
});
