import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';

import { afterEach, describe, expect, test } from '@jest/globals';

import { systemCodeOf } from '../../src/shared/errors.ts';
import { eventually, Http2Client, RawClient, signal } from './clients.ts';
import { freePort } from '../free-port.ts';
import { ask, Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { finished, startGwctl } from '../commands/gwctl.ts';
import { KeepAliveClient } from './load.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Longer than any test. */
const FOREVER = '10m';

interface Deadlines {
  readonly min?: string;
  readonly max?: string;
}

interface Held {
  readonly running: RunningGateway;
  readonly port: number;
  /** Resolves when a request for `/slow` has reached the upstream. */
  readonly arrived: Promise<void>;
  /** Lets the upstream answer what waits. */
  readonly release: () => void;
}

/** A gateway in two threads before an upstream that answers `/slow` only once it is released. */
async function start({ min = '0s', max = FOREVER }: Deadlines = {}): Promise<Held> {
  const arrived = signal();
  const go = signal();
  const server = cleanup.add(
    await upstream((request, response) => {
      if (request.url !== '/slow') {
        response.end('quick');
        return;
      }
      arrived.resolve();
      void go.promise.then(() => response.end('slow'));
    }),
  );
  const text = `config: {connectionMinTerminationDeadline: ${min}, connectionTerminationDeadline: ${max}}
gateways: {default: {port: 80}}
routes: [{backends: [{host: "127.0.0.1:${server.port}", policies: {http: {version: HTTP/1.1}}}]}]
`;
  const running = cleanup.add(await startGateway(text, { threads: 2 }));
  return { running, port: running.port(80), arrived: arrived.promise, release: () => go.resolve() };
}

function ready({ readiness }: RunningGateway): Promise<{ status: number; body: string }> {
  return fetch(`${readiness}/healthz/ready`).then(async (answer) => ({
    status: answer.status,
    body: await answer.text(),
  }));
}

function ended(promise: Promise<unknown>): () => boolean {
  let over = false;
  void promise.finally(() => (over = true));
  return () => over;
}

/** Waits until the threads know that the gateway drains: new connections are asked to leave. */
async function draining(port: number): Promise<void> {
  await eventually('every thread drains', async () => {
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => ask(port, '/', { headers: { connection: 'keep-alive' } })),
    );
    return answers.every(({ headers }) => headers.connection === 'close');
  });
}

describe('a shutdown', () => {
  test('of an idle gateway ends at once, and nothing listens any more', async () => {
    const { running, port } = await start();
    const idle = cleanup.add(new KeepAliveClient(port));
    await idle.ask('/');
    await running.gateway.shutdown();
    await running.gateway.done;
    await expect(ask(port, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(fetch(`${running.admin}/config_dump`)).rejects.toThrow('fetch failed');
    expect(running.log.at(-1)).toContain('stopped');
  });

  test('lets a request under way finish, tells its client to leave, and logs it before the end', async () => {
    const { running, port, arrived, release } = await start();
    const client = new RawClient(port);
    client.write('GET /slow HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await arrived;
    const closing = running.gateway.shutdown();
    const over = ended(closing);
    await draining(port);
    expect(over()).toBe(false);
    release();
    await client.closed;
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(client.text.toLowerCase()).toContain('connection: close\r\n');
    expect(client.text).toMatch(/slow$/);
    await closing;
    const record = running.log.findIndex(
      (line) => line.includes('http.path=/slow') && line.includes('http.status=200'),
    );
    expect(record).toBeGreaterThan(-1);
    expect(record).toBeLessThan(running.log.findIndex((line) => line.includes('stopped')));
  });

  test('answers new connections as long as it waits, each asked to leave', async () => {
    const { running, port, arrived, release } = await start();
    const slow = ask(port, '/slow');
    await arrived;
    const closing = running.gateway.shutdown();
    await draining(port);
    const late = cleanup.add(new KeepAliveClient(port));
    const first = await late.ask('/');
    const second = await late.ask('/');
    expect([first, second]).toMatchObject([
      { status: 200, headers: { connection: 'close' }, reused: false },
      { status: 200, headers: { connection: 'close' }, reused: false },
    ]);
    release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow' });
    await closing;
  });

  test('sends GOAWAY on HTTP/2 and lets its streams finish', async () => {
    const { running, port, arrived, release } = await start();
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${port}`));
    const slow = client.ask({ ':path': '/slow' });
    await arrived;
    const closing = running.gateway.shutdown();
    await eventually('the client hears GOAWAY', () => client.goaways.length > 0);
    expect(client.goaways[0]).toBe(0);
    release();
    expect(await slow).toMatchObject({ status: 200, text: 'slow' });
    await client.closed;
    await closing;
  });

  test('turns readiness at once, and metrics and admin go on until its end', async () => {
    const { running, port, arrived, release } = await start();
    expect(await ready(running)).toEqual({ status: 200, body: 'ready\n' });
    const slow = ask(port, '/slow');
    await arrived;
    const closing = running.gateway.shutdown();
    expect(await ready(running)).toEqual({ status: 500, body: 'not ready, pending: draining\n' });
    expect((await fetch(`${running.stats}/metrics`)).status).toBe(200);
    expect((await fetch(`${running.admin}/config_status`)).status).toBe(200);
    await expect(running.reload('routes: []')).resolves.toMatchObject({
      kind: 'rejected',
      error: { code: 'GW_SHUTTING_DOWN' },
    });
    release();
    await slow;
    await closing;
  });

  test('is not held up by a connection on which nothing was ever sent', async () => {
    const { running, port } = await start();
    const silent = connectTcp(port, '127.0.0.1');
    const closed = once(silent, 'close');
    await once(silent, 'connect');
    await running.gateway.shutdown();
    silent.resume();
    await closed;
  });

  test('cuts what is still open at the maximum deadline, and says so', async () => {
    const { running, port, arrived } = await start({ max: '100ms' });
    const slow = ask(port, '/slow');
    slow.catch(() => {});
    await arrived;
    await running.gateway.shutdown();
    await expect(slow).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(running.log.join('\n')).toContain('the deadline has passed');
  });

  test('asked for twice ends at once, whatever is in flight', async () => {
    const { running, port, arrived } = await start({ min: FOREVER });
    const slow = ask(port, '/slow');
    slow.catch(() => {});
    await arrived;
    const closing = running.gateway.shutdown();
    await draining(port);
    await Promise.all([closing, running.gateway.shutdown()]);
    await expect(slow).rejects.toMatchObject({ code: 'ECONNRESET' });
    await running.gateway.done;
  });
});

describe('the minimum deadline', () => {
  const MINIMUM_MS = 400;

  /** Starts the shutdown; resolves when the minimum deadline has passed. */
  async function minimumPassed({ admin }: RunningGateway): Promise<void> {
    const answer = await fetch(`${admin}/quitquitquit`, { method: 'POST' });
    expect(answer.status).toBe(200);
  }

  test('keeps an idle gateway open, and new connections are answered until it has passed', async () => {
    const { running, port } = await start({ min: `${MINIMUM_MS}ms` });
    const begun = performance.now();
    const passed = minimumPassed(running);
    const over = ended(passed);
    await draining(port);
    for (;;) {
      const answer = await ask(port, '/').catch((error: unknown) => error);
      if (systemCodeOf(answer) !== undefined) break;
      expect(answer).toMatchObject({ status: 200, body: 'quick' });
      if (over()) break;
    }
    expect(performance.now() - begun).toBeGreaterThan(MINIMUM_MS);
    await passed;
    await running.gateway.done;
  });

  test('does not cut a request that came after the shutdown had begun', async () => {
    const { running, port, arrived, release } = await start({ min: '300ms' });
    const passed = minimumPassed(running);
    await draining(port);
    const slow = ask(port, '/slow');
    await arrived;
    await passed;
    release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow' });
    await running.gateway.done;
  });

  test('does not cut a request that one thread got while another was still busy', async () => {
    const { running, port, arrived, release } = await start();
    const first = ask(port, '/slow');
    await arrived;
    const closing = running.gateway.shutdown();
    await draining(port);
    // The busy thread takes what it is given, the idle one has stopped; in either no answer is lost.
    const others = Array.from({ length: 16 }, () => ask(port, '/slow'));
    release();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 17 }, () => 'slow'));
    await closing;
  });
});

describe('POST /quitquitquit', () => {
  test('shuts down in order: answers at the minimum deadline, finishes what is in flight, ends', async () => {
    const { running, port, arrived, release } = await start({ min: '50ms' });
    const slow = ask(port, '/slow');
    await arrived;
    const answer = await fetch(`${running.admin}/quitquitquit`, { method: 'POST' });
    expect([answer.status, await answer.text()]).toEqual([200, 'shutdown now\n']);
    release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow', headers: { connection: 'close' } });
    await running.gateway.done;
  });

  test('asked for again still lets requests finish', async () => {
    const { running, port, arrived, release } = await start();
    const slow = ask(port, '/slow');
    await arrived;
    for (let n = 0; n < 3; n++) {
      expect((await fetch(`${running.admin}/quitquitquit`, { method: 'POST' })).status).toBe(200);
    }
    expect(running.gateway.closing).toBe(true);
    release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow' });
    await running.gateway.done;
  });

  test.each(['GET', 'PUT', 'DELETE'])('is not %s, which stops nothing', async (method) => {
    const { running, port } = await start();
    const answer = await fetch(`${running.admin}/quitquitquit`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await ask(port, '/')).status).toBe(200);
    expect((await ready(running)).status).toBe(200);
  });

  test('is refused to a page of another site, and to a name that was rebound', async () => {
    const { running } = await start();
    const target = `${running.admin}/quitquitquit`;
    const admin = Number(new URL(running.admin).port);
    const foreign = await ask(admin, '/quitquitquit', {
      method: 'POST',
      headers: { 'sec-fetch-site': 'cross-site', host: 'localhost' },
    });
    const origin = await fetch(target, { method: 'POST', headers: { origin: 'http://evil.test' } });
    const rebound = await ask(admin, '/quitquitquit', { method: 'POST', headers: { host: `evil.test:${admin}` } });
    expect([foreign.status, origin.status, rebound.status]).toEqual([403, 403, 403]);
    expect((await ready(running)).status).toBe(200);
  });
});

describe('signals', () => {
  interface Process {
    readonly port: number;
    readonly admin: string;
    readonly child: ReturnType<typeof startGwctl>;
    readonly end: ReturnType<typeof finished>;
    readonly arrived: Promise<void>;
    readonly release: () => void;
    readonly log: () => string;
  }

  async function run(): Promise<Process> {
    const arrived = signal();
    const go = signal();
    const server = cleanup.add(
      await upstream((_request, response) => {
        arrived.resolve();
        void go.promise.then(() => response.end('slow'));
      }),
    );
    const port = await freePort();
    const admin = await freePort(new Set([port]));
    const config = `config: {adminAddr: "127.0.0.1:${admin}", statsAddr: off, readinessAddr: off, workerThreads: 1, enableIpv6: false, connectionTerminationDeadline: 10m}
gateways: {default: {port: ${port}}}
routes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]
`;
    const child = startGwctl(['proxy', 'run', '-c', config]);
    cleanup.add({ close: () => child.kill('SIGKILL') });
    const end = finished(child);
    let log = '';
    child.stdout.on('data', (text) => (log += String(text)));
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (text) => String(text).includes('admin on') && resolve());
      child.once('close', () => resolve());
    });
    return {
      port: port ?? 0,
      admin: `http://127.0.0.1:${admin}`,
      child,
      end,
      arrived: arrived.promise,
      release: () => go.resolve(),
      log: () => log,
    };
  }

  test('SIGTERM behind /quitquitquit is no second one: the request in flight finishes', async () => {
    const running = await run();
    const slow = ask(running.port, '/');
    await running.arrived;
    await fetch(`${running.admin}/quitquitquit`, { method: 'POST' });
    running.child.kill('SIGTERM');
    // The thread that answers this is the one that the signal meets.
    expect((await fetch(`${running.admin}/config_status`)).status).toBe(200);
    running.release();
    expect(await slow).toMatchObject({ status: 200, body: 'slow' });
    expect((await running.end).code).toBe(0);
  });

  test('a second Ctrl-C ends at once with 0', async () => {
    const running = await run();
    const slow = ask(running.port, '/').catch(() => null);
    await running.arrived;
    running.child.kill('SIGINT');
    await eventually('it drains', () => running.log().includes('draining'));
    running.child.kill('SIGINT');
    expect((await running.end).code).toBe(0);
    expect(await slow).toBeNull();
  });
});
