import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, type RunningGateway } from './gateway.ts';
import { observing } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { start, startRoutes, answering } = observing(cleanup);

describe('the access log', () => {
  const KEYS = [
    'gateway',
    'listener',
    'route_rule',
    'route',
    'endpoint',
    'src.addr',
    'http.method',
    'http.host',
    'http.path',
    'http.version',
    'http.status',
    'protocol',
    'retry.attempt',
    'error',
    'reason',
    'duration',
  ];

  function config(port: number, more = ''): string {
    return `${more}gateways: {web: {listeners: [{name: main}], port: 80}}
routes:
- {name: shop, ruleName: first, gateways: [web], matches: [{path: {pathPrefix: /shop}}], backends: [{host: "127.0.0.1:${port}"}]}
- name: failing
  gateways: [web]
  matches: [{path: {pathPrefix: /failing}}]
  policies: {retry: {attempts: 1, backoff: 1ms, codes: [503]}}
  backends: [{host: "127.0.0.1:1"}]
`;
  }

  test('is one line of text, its fields in order', async () => {
    const server = await answering(201, 'made');
    const running = await start(config(server.port));
    await ask(running.port(80), '/shop/a%20b?x=1', { method: 'PUT', headers: { host: 'Shop.Test:8080' } });
    expect(await running.logged('http.path=/shop')).toMatch(
      new RegExp(
        `^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z\\tinfo\\trequest gateway=default/default listener=web/main route_rule=first route=default/shop ` +
          `endpoint=127\\.0\\.0\\.1:${server.port} src\\.addr=127\\.0\\.0\\.1:\\d+ http\\.method=PUT http\\.host=[Ss]hop\\.[Tt]est ` +
          `http\\.path=/shop/a%20b\\?x=1 http\\.version=HTTP/1\\.1 http\\.status=201 protocol=http duration=\\d+ms$`,
      ),
    );
    await ask(running.port(80), '/failing');
    expect(await running.logged('http.path=/failing')).toMatch(
      / http\.status=503 protocol=http retry\.attempt=1 error="upstream call failed: [^"]+" reason=UpstreamFailure duration=\d+ms$/,
    );
    await ask(running.port(80), '/nothing');
    expect(await running.logged('http.path=/nothing')).toMatch(
      /\trequest gateway=default\/default listener=web\/main src\.addr=\S+ http\.method=GET .* http\.status=404 error="route not found" reason=NotFound duration=\d+ms$/,
    );
  });

  test('is JSON with the same fields in the same order when asked for', async () => {
    const server = await answering(200, 'ok');
    const running = await start(config(server.port, 'config: {logging: {format: json}}\n'));
    await ask(running.port(80), '/shop?token=hidden');
    const line = JSON.parse(await running.logged('/shop'));
    expect(Object.keys(line)).toEqual([
      'level',
      'time',
      'scope',
      ...KEYS.filter((key) => !['retry.attempt', 'error', 'reason'].includes(key)),
    ]);
    expect(line).toMatchObject({
      level: 'info',
      scope: 'request',
      'http.status': 200,
      'http.path': '/shop?token=<redacted>',
      duration: expect.stringMatching(/^\d+ms$/),
    });
    await ask(running.port(80), '/failing');
    expect(Object.keys(JSON.parse(await running.logged('/failing')))).toEqual([
      'level',
      'time',
      'scope',
      ...KEYS.filter((key) => key !== 'route_rule'),
    ]);
  });

  test('cannot be forged by what a client sends', async () => {
    const server = await answering(200, 'ok');
    const running = await start(config(server.port));
    await ask(running.port(80), '/shop?x="y"&z=a=b', { headers: { host: 'a"b=c.test' } }).catch(() => null);
    await ask(running.port(80), '/shop/%0a2026-01-01T00:00:00Z%09info%09request%20forged=1');
    await running.logged('/shop/%0a2026');
    expect(running.log.filter((line) => /^2026-01-01|\tforged=|\srequest forged/.test(line))).toEqual([]);
  });

  test('leaves out what the policy removes, from the reload on', async () => {
    const server = await answering(200, 'ok');
    const running = await start(config(server.port));
    await running.reload(`${config(server.port)}frontendPolicies: {accessLog: {remove: [src.addr, duration]}}\n`);
    await ask(running.port(80), '/shop');
    expect(await running.logged('http.path=/shop')).toMatch(/ endpoint=\S+ http\.method=GET .* protocol=http$/);
  });
});

describe('a log level that is changed by POST /logging', () => {
  async function level({ admin }: RunningGateway, query: string, method = 'POST'): Promise<[number, string]> {
    const answer = await fetch(`${admin}/logging${query}`, { method });
    return [answer.status, await answer.text()];
  }

  /** Requests on connections of their own, which both threads share. */
  async function batch(running: RunningGateway, path: string): Promise<void> {
    await Promise.all(Array.from({ length: 16 }, () => ask(running.port(80), path)));
  }

  function count(running: RunningGateway, path: string): number {
    return running.log.filter((line) => line.includes(`http.path=${path} `)).length;
  }

  async function linesOf(running: RunningGateway, path: string): Promise<string[]> {
    await batch(running, path);
    await eventually(`the requests for ${path} are logged`, () => count(running, path) === 16);
    return running.log.filter((line) => line.includes(`http.path=${path} `));
  }

  test('takes effect in every thread, and reset takes it back', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    expect(await level(running, '')).toEqual([200, 'current log level is info\n']);
    expect((await linesOf(running, '/first')).some((line) => line.includes('connection.id='))).toBe(false);
    expect(await level(running, '?level=request=debug')).toEqual([200, 'current log level is info,request=debug\n']);
    let tries = 0;
    await eventually('both threads tell more', async () => {
      const lines = await linesOf(running, `/debug-${(tries += 1)}`);
      return lines.every((line) => line.includes('\trequest connection.id='));
    });

    expect(await level(running, '?level=request=off')).toEqual([200, 'current log level is info,request=off\n']);
    await eventually('both threads are silent', async () => {
      const path = `/off-${(tries += 1)}`;
      await batch(running, path);
      await level(running, '?reset');
      // A thread that wrote about these would have done so before it writes about those to come.
      await writing(running, `${path}-after`);
      const silent = count(running, path) === 0;
      if (!silent) await level(running, '?level=request=off');
      return silent;
    });
    expect(await level(running, '', 'GET')).toEqual([200, 'current log level is info\n']);
  });

  /** Resolves when each of 16 requests was logged, and so both threads log again. */
  async function writing(running: RunningGateway, name: string): Promise<void> {
    const paths: string[] = [];
    await eventually('both threads write again', async () => {
      const path = `${name}-${paths.length}`;
      paths.push(path);
      await batch(running, path);
      return paths.some((each) => count(running, each) === 16);
    });
  }

  test('shows what the listeners of the threads refuse', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    await level(running, '?level=listener=debug');
    await eventually('a thread tells of it', async () => {
      const client = new RawClient(running.port(80)).write('nonsense\r\n\r\n');
      await client.closed;
      return running.log.some((line) => line.includes('\tdebug\tlistener\trequest refused'));
    });
  });

  test('is refused when it is not understood, and GET changes nothing', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    expect(await level(running, '?level=loud')).toEqual([
      400,
      expect.stringMatching(/^Invalid level provided: .*\nusage/s),
    ]);
    expect((await level(running, '?level=off', 'GET'))[0]).toBe(405);
    expect(await level(running, '', 'GET')).toEqual([200, 'current log level is info\n']);
  });
});
