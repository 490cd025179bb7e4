import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, fixturePath, signal } from './clients.ts';
import { ask, Cleanup, upstream } from './gateway.ts';
import { eventsOf, observing, only } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { start, startRoutes, watch } = observing(cleanup);

describe('nothing secret', () => {
  const SECRETS = {
    authorization: 'secret-bearer',
    proxy: 'secret-proxy',
    cookie: 'secret-cookie',
    apiKey: 'secret-api-key',
    own: 'secret-own-header',
    query: 'secret-query-token',
    setCookie: 'secret-set-cookie',
    location: 'secret-in-location',
    referer: 'secret-in-referer',
    configured: 'secret-configured',
  };

  test('shows in dump, status, trace, log, tasks or metrics', async () => {
    const arrived = signal();
    const server = cleanup.add(
      await upstream((request, response) => {
        if (request.url?.startsWith('/held') === true) {
          arrived.resolve();
          return;
        }
        response.writeHead(200, {
          'set-cookie': `sid=${SECRETS.setCookie}`,
          location: `https://shop.test/next?access_token=${SECRETS.location}`,
        });
        response.end('fine');
      }),
    );
    const text = `config: {sensitiveHeaders: [x-own], logging: {level: "debug"}}
gateways: {default: {port: 80}, secure: {port: 443, tls: {cert: ${fixturePath('a.crt')}, key: ${fixturePath('a.key')}}}}
routes:
- name: keyed
  gateways: [default, secure]
  matches: [{path: {exact: /main}, headers: [{name: x-api-key, value: {exact: ${SECRETS.configured}}}]}]
  policies: {directResponse: {status: 200}}
- name: redirected
  gateways: [default]
  matches: [{path: {exact: /moved}}]
  policies: {requestRedirect: {path: {full: /there}}}
- name: main
  gateways: [default, secure]
  policies:
    requestHeaderModifier: {set: {authorization: "Bearer ${SECRETS.configured}"}}
    retry: {attempts: 1, codes: [500]}
  backends: [{host: "127.0.0.1:${server.port}"}]
`;
    const running = await start(text);
    const headers = {
      authorization: `Bearer ${SECRETS.authorization}`,
      'proxy-authorization': `Basic ${SECRETS.proxy}`,
      cookie: `sid=${SECRETS.cookie}`,
      'x-api-key': SECRETS.apiKey,
      'x-own': SECRETS.own,
      referer: `https://shop.test/?code=${SECRETS.referer}`,
    };
    const path = (name: string): string => `${name}?token=${SECRETS.query}&api_key=${SECRETS.query}&x=1`;
    const reader = await watch(running, '?follow=true');
    await ask(running.port(80), path('/main'), { headers });
    await ask(running.port(80), path('/moved'), { headers });
    await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: running.port(443), path: path('/main'), headers, agent: false };
      const outgoing = httpsRequest({ ...options, rejectUnauthorized: false }, (response) =>
        response.resume().on('end', resolve),
      );
      outgoing.on('error', reject).end();
    });
    const held = connect(running.port(80), '127.0.0.1');
    held.write(`GET ${path('/held')} HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
    await arrived.promise;
    const tasks = await (await fetch(`${running.admin}/debug/tasks`)).text();
    const gone = once(held, 'close');
    held.destroy();
    await gone;
    await running.reload(text.replaceAll(SECRETS.configured, `${SECRETS.configured}-2`) + 'nonsense: 1\n');
    await running.logged('http.path=/held');
    await eventually('the traces are complete', () => only(eventsOf(reader), 'requestFinished').length === 4);
    const bodies = await Promise.all(
      ['config_dump', 'config_status', 'logging', 'memory', '', 'debug/tasks'].map(async (name) => {
        return [name, await (await fetch(`${running.admin}/${name}`)).text()] as const;
      }),
    );
    const outputs = new Map<string, string>([
      ...bodies,
      ['tasks', tasks],
      ['metrics', await (await fetch(`${running.stats}/metrics`)).text()],
      ['trace', JSON.stringify(reader.events)],
      ['log', running.log.join('\n')],
    ]);
    const found = [...outputs].flatMap(([name, output]) => {
      const planted = [...Object.values(SECRETS), 'PRIVATE KEY'].filter((secret) => output.includes(secret));
      return planted.map((secret) => `${name}: ${secret}`);
    });
    expect(found).toEqual([]);
    expect(outputs.get('trace')).toContain('<redacted>');
    expect(outputs.get('log')).toContain('token=<redacted>&api_key=<redacted>&x=1');
    expect(tasks).toContain('/held?token=<redacted>');
  });
});

describe('a browser that was tricked', () => {
  test.each(['/config_dump', '/config_status', '/debug/trace', '/logging', '/', '/debug/tasks'])(
    'by DNS rebinding gets nothing from %s',
    async (path) => {
      const running = await startRoutes('- policies: {directResponse: {status: 200}}');
      const port = Number(new URL(running.admin).port);
      for (const host of ['evil.test', `evil.test:${port}`, '127.0.0.1.evil.test', 'localhost.evil.test']) {
        const answer = await ask(port, path, { headers: { host } });
        expect(answer.status).toBe(403);
        expect(answer.body).not.toContain('default');
      }
      if (path === '/debug/trace') return;
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '[::1]']) {
        expect((await ask(port, path, { headers: { host } })).status).toBe(200);
      }
    },
  );

  test('by another site changes nothing', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    const port = Number(new URL(running.admin).port);
    for (const path of ['/logging?level=off', '/debug/trace', '/quitquitquit']) {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { origin: 'http://evil.test' },
      ]) {
        const answer = await ask(port, path, { method: 'POST', headers: { ...headers, host: 'localhost' } });
        expect(answer.status).toBe(403);
      }
    }
    expect((await ask(port, '/logging', { headers: { host: 'localhost' } })).body).toBe('current log level is info\n');
  });
});
