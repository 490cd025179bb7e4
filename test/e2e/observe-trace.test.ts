import { connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';

import { RawClient, signal } from './clients.ts';
import { ask, Cleanup, upstream } from './gateway.ts';
import { BEGIN, observing, only, outline } from './observed.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { startRoutes, answering, traceOf } = observing(cleanup);

const FORWARD = ['requestSnapshot route policies', 'policySelection backend'];
const RESPONSE = ['responseSnapshot raw response', 'responseSnapshot backend response ready'];

describe('a trace tells in order', () => {
  test('what a plain request met, with the times and bodies of its call', async () => {
    const server = await answering(200, 'there');
    const running = await startRoutes(`- name: plain\n  backends: [{host: "127.0.0.1:${server.port}"}]`);
    const events = await traceOf(running, () => ask(running.port(80), '/a?b=c', { method: 'POST', body: 'here' }));
    expect(outline(events)).toEqual([
      ...BEGIN,
      'routeSelection',
      'policySelection route',
      ...FORWARD,
      'requestSnapshot final request',
      'backendCallStart',
      'bodySnapshot final request',
      'backendCallResult 200',
      ...RESPONSE,
      'responseSnapshot final response',
      'bodySnapshot response',
      'requestFinished 200',
    ]);
    const [first] = events;
    expect(first?.startTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(1);
    const ends = events.map(({ eventEnd }) => eventEnd);
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    const call = events.find(({ message }) => message.type === 'backendCallResult');
    expect(call?.eventStart).toBeLessThanOrEqual(call?.eventEnd ?? -1);
    expect(events.filter(({ eventStart }) => eventStart !== null)).toEqual([call]);
    expect(only(events, 'backendCallStart')).toEqual([
      { type: 'backendCallStart', target: `127.0.0.1:${server.port}` },
    ]);
    const bodies = only(events, 'bodySnapshot').map(({ body }) => Buffer.from(body, 'base64').toString());
    expect(bodies).toEqual(['here', 'there']);
    const state = only(events, 'responseSnapshot').at(-1)?.requestState;
    expect(state).toMatchObject({
      request: { method: 'POST', path: '/a', pathAndQuery: '/a?b=c', host: 'shop.test' },
      response: { code: 200 },
      proxy: { bind: 'bind/80', route: { namespace: 'default', name: 'plain' } },
      source: { address: '127.0.0.1' },
      backend: { type: 'host', protocol: 'http' },
    });
  });

  test('why a request was answered by a redirect', async () => {
    const running = await startRoutes('- name: old\n  policies: {requestRedirect: {path: {full: /new}}}');
    const events = await traceOf(running, () => ask(running.port(80), '/old'));
    expect(outline(events)).toEqual([
      ...BEGIN,
      'routeSelection',
      'policySelection route',
      'policy request_redirect',
      'responseSnapshot final response',
      'requestFinished 302',
    ]);
    expect(only(events, 'policy')[0]?.result).toMatchObject({
      type: 'apply',
      details: expect.stringContaining('302 to http://shop.test/new'),
    });
  });

  test('why no route matched, the nearest first', async () => {
    const running = await startRoutes(`
- name: host
  hostnames: [other.test]
  policies: {directResponse: {status: 200}}
- name: path
  matches: [{path: {exact: /elsewhere}}]
  policies: {directResponse: {status: 200}}
- name: method
  matches: [{path: {exact: /team}, method: POST}]
  policies: {directResponse: {status: 200}}
- name: header
  matches: [{path: {exact: /team}, headers: [{name: x-team, value: {exact: red}}]}]
  policies: {directResponse: {status: 200}}
- name: query
  matches: [{path: {exact: /team}, query: [{name: page, value: {exact: "2"}}]}]
  policies: {directResponse: {status: 200}}
`);
    const events = await traceOf(running, () =>
      ask(running.port(80), '/team?page=1', { headers: { 'x-team': 'blue' } }),
    );
    expect(outline(events)).toEqual([
      ...BEGIN,
      'routeSelection error',
      'responseSnapshot final response warn',
      'bodySnapshot response',
      'requestFinished 404 error',
    ]);
    const key = (name: string): string => `gateway/default/default/${name}`;
    expect(only(events, 'routeSelection')).toEqual([
      {
        type: 'routeSelection',
        selectedRoute: null,
        evaluatedRoutes: ['header', 'method', 'path', 'query'].map(key),
        rejectedRoutes: [
          { route: key('query'), failed: 'query page', expected: '2', actual: '1' },
          { route: key('header'), failed: 'header x-team', expected: 'red', actual: 'blue' },
          { route: key('method'), failed: 'method', expected: 'POST', actual: 'GET' },
          { route: key('path'), failed: 'path', expected: 'exact /elsewhere', actual: '/team' },
          { route: key('host'), failed: 'hostname', expected: 'other.test', actual: 'shop.test' },
        ],
      },
    ]);
    expect(only(events, 'requestFinished')).toEqual([
      { type: 'requestFinished', status: 404, error: 'route not found' },
    ]);
  });

  test('each call of a request that was tried again', async () => {
    let calls = 0;
    const server = cleanup.add(
      await upstream((_request, response) => {
        calls += 1;
        response.writeHead(calls < 3 ? 503 : 200).end('done');
      }),
    );
    const running = await startRoutes(
      `- policies: {retry: {attempts: 2, codes: [503], backoff: 1ms}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const events = await traceOf(running, () => ask(running.port(80), '/'));
    const failed = [
      'requestSnapshot final request',
      'backendCallStart',
      'backendCallResult 503 error',
      ...RESPONSE.map((line) => `${line} error`),
      'policyEvent retry warn',
      'policyEvent retry',
    ];
    expect(outline(events)).toEqual([
      ...BEGIN,
      'routeSelection',
      'policySelection route',
      'policy retry',
      ...FORWARD,
      ...failed,
      ...failed,
      'requestSnapshot final request',
      'backendCallStart',
      'backendCallResult 200',
      ...RESPONSE,
      'responseSnapshot final response',
      'bodySnapshot response',
      'requestFinished 200',
    ]);
    expect(only(events, 'policyEvent').map(({ details }) => details)).toEqual([
      'attempt 1 of 3 failed: status 503',
      'backed off 1ms',
      'attempt 2 of 3 failed: status 503',
      'backed off 1ms',
    ]);
    await running.logged('retry.attempt=2', 'http.status=200');
  });

  test('the copy that a mirror sent, in a scope, even when it answers last', async () => {
    const answered = signal();
    const copy = cleanup.add(
      await upstream((request, response) => {
        request.resume();
        void answered.promise.then(() => response.writeHead(418).end());
      }),
    );
    const server = await answering(200, 'main');
    const running = await startRoutes(
      `- policies: {requestMirror: {backend: {host: "127.0.0.1:${copy.port}"}, percentage: 1.0}}\n  backends: [{host: "127.0.0.1:${server.port}"}]`,
    );
    const events = await traceOf(running, async () => {
      expect((await ask(running.port(80), '/', { method: 'POST', body: 'x' })).status).toBe(200);
      answered.resolve();
    });
    const lines = outline(events);
    expect(lines.filter((line) => line.startsWith('mirror:'))).toEqual([
      'mirror: backendCallStart',
      'mirror: backendCallResult 418',
    ]);
    expect(lines.slice(-2)).toEqual(['requestFinished 200', 'mirror: backendCallResult 418']);
    expect(lines).toContain('policy request_mirror');
    const start = events.find(({ scope, message }) => scope !== undefined && message.type === 'backendCallStart');
    expect(start?.message).toMatchObject({ target: `127.0.0.1:${copy.port}` });
  });

  test('that the client went away while the backend thought', async () => {
    const arrived = signal();
    const server = cleanup.add(await upstream(() => arrived.resolve()));
    const running = await startRoutes(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const events = await traceOf(running, async () => {
      const client = connect(running.port(80), '127.0.0.1');
      client.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
      await arrived.promise;
      client.destroy();
    });
    expect(outline(events).at(-1)).toBe('requestFinished 499 error');
    expect(only(events, 'requestFinished')[0]?.error).toBe('client went away');
    expect(only(events, 'backendCallResult')).toMatchObject([{ status: null }]);
    await running.logged('http.status=499', 'error="client went away"');
  });

  test('that the client went away in the middle of the answer', async () => {
    const server = cleanup.add(await upstream((_request, response) => void response.write('begun')));
    const running = await startRoutes(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    const events = await traceOf(running, async () => {
      const client = new RawClient(running.port(80));
      client.write('GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
      await client.until((text) => text.includes('begun'));
      client.socket.destroy();
    });
    expect(outline(events).slice(-2)).toEqual(['bodySnapshot response', 'requestFinished 200 error']);
    expect(only(events, 'bodySnapshot').at(-1)?.body).toBe(Buffer.from('begun').toString('base64'));
    expect(only(events, 'requestFinished')[0]?.error).toBe('client went away');
  });
});
