import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { EventReader } from '../proxy/admin/sse.ts';
import { eventually, fixturePath, RawClient, signal } from './clients.ts';
import { type Ask, ask, Cleanup, type RunningGateway, startGateway, upstream, type Upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function start(text: string): Promise<RunningGateway> {
  return cleanup.add(await startGateway(text, { threads: 2 }));
}

/** A gateway on port 80 with the given routes. */
function startRoutes(routes: string): Promise<RunningGateway> {
  return start(`gateways: {default: {port: 80}}\nroutes:\n${routes}`);
}

async function answering(status: number, body: string): Promise<Upstream> {
  return cleanup.add(
    await upstream((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(status).end(body));
    }),
  );
}

async function watch({ admin }: RunningGateway, query = ''): Promise<EventReader> {
  return cleanup.add(await EventReader.open(`${admin}/debug/trace${query}`));
}

// `as`: what the gateway under test sends; the decoder has tests of its own.
const eventsOf = (reader: EventReader): TraceEvent[] => reader.events as TraceEvent[];

/** The events of the next request that `act` makes. */
async function traceOf(running: RunningGateway, act: () => unknown): Promise<TraceEvent[]> {
  const reader = await watch(running);
  await act();
  await reader.ended;
  return eventsOf(reader);
}

/** One line per event: scope, type, what makes it this one, and how it went. */
function outline(events: readonly TraceEvent[]): string[] {
  return events.map(({ message, scope, severity }) => {
    const what =
      'stage' in message ? message.stage : 'phase' in message ? message.phase : 'kind' in message ? message.kind : '';
    const outcome = 'status' in message && message.status !== null ? String(message.status) : '';
    return [
      ...(scope ?? []).map((name) => `${name}:`),
      message.type,
      what,
      outcome,
      severity === 'info' ? '' : severity,
    ]
      .filter((part) => part !== '')
      .join(' ');
  });
}

function only<T extends TraceEvent['message']['type']>(events: readonly TraceEvent[], type: T) {
  return events
    .map(({ message }) => message)
    .filter((message): message is Extract<TraceEvent['message'], { type: T }> => message.type === type);
}

const BEGIN = [
  'requestStarted',
  'requestSnapshot initial request',
  'policySelection listenerFrontend',
  'policySelection gateway',
  'requestSnapshot gateway policies',
];
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

describe('watchers', () => {
  const routes = '- policies: {directResponse: {status: 200, body: ok}}';

  function many(running: RunningGateway, count: number): Promise<unknown> {
    return Promise.all(Array.from({ length: count }, (_, n) => ask(running.port(80), `/${n}`)));
  }

  const idsOf = (reader: EventReader): Set<string | undefined> =>
    new Set(eventsOf(reader).map(({ requestId }) => requestId));

  test('that follow get every request of both threads, whole and in order, and both the same', async () => {
    const running = await startRoutes(routes);
    const readers = [await watch(running, '?follow=true'), await watch(running, '?follow=true')];
    await many(running, 60);
    const complete = (reader: EventReader): boolean => only(eventsOf(reader), 'requestFinished').length === 60;
    await eventually('every request is told to both', () => readers.every(complete));
    for (const reader of readers) {
      expect(idsOf(reader).size).toBe(60);
      const threads = new Set([...idsOf(reader)].map((id) => id?.split('-')[1]));
      expect(threads).toEqual(new Set(['0', '1']));
      for (const id of idsOf(reader)) {
        const own = eventsOf(reader).filter(({ requestId }) => requestId === id);
        expect(own[0]?.startTime).toBeDefined();
        expect(outline(own)).toEqual([
          ...BEGIN,
          'routeSelection',
          'policySelection route',
          'policy direct_response',
          'responseSnapshot final response',
          'bodySnapshot response',
          'requestFinished 200',
        ]);
      }
    }
    expect(readers[0]?.events).toEqual(readers[1]?.events);
  });

  test('of one request get exactly one among many over two threads, each another', async () => {
    const running = await startRoutes(routes);
    const readers = await Promise.all(Array.from({ length: 5 }, () => watch(running)));
    await many(running, 60);
    await Promise.all(readers.map((reader) => reader.ended));
    const ids = readers.map(idsOf);
    expect(ids.map((each) => each.size)).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(ids.flatMap((each) => [...each])).size).toBe(5);
    for (const reader of readers) {
      expect([reader.types()[0], reader.types().at(-1)]).toEqual(['requestStarted', 'requestFinished']);
    }
  });

  test('who leave before a request comes take none away from those who wait', async () => {
    const running = await startRoutes(routes);
    const gone = await watch(running);
    const waiting = await watch(running);
    gone.close();
    await gone.ended;
    await eventually('a request reaches who waits', async () => {
      await ask(running.port(80), '/');
      return waiting.types().includes('requestFinished');
    });
    expect(idsOf(waiting).size).toBe(1);
  });

  test('decide what is recorded: without them no request has so much as an id', async () => {
    const running = await start(
      `config: {logging: {level: "info,request=debug"}}\ngateways: {default: {port: 80}}\nroutes:\n${routes}`,
    );
    const withId = async (path: string): Promise<boolean> => {
      await ask(running.port(80), path);
      return (await running.logged(`http.path=${path} `)).includes('request.id=');
    };
    expect(await withId('/before')).toBe(false);
    const reader = await watch(running);
    expect(await withId('/watched')).toBe(true);
    await reader.ended;
    expect(await withId('/after')).toBe(false);
    const follower = await watch(running, '?follow=true');
    expect(await withId('/followed')).toBe(true);
    follower.close();
    await follower.ended;
    let tries = 0;
    await eventually('nothing is recorded any more', async () => !(await withId(`/again-${(tries += 1)}`)));
    expect(await withId('/last')).toBe(false);
  });
});

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

describe('the metrics', () => {
  interface Series {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }

  async function scrape({ stats }: RunningGateway, accept = 'text/plain'): Promise<Series[]> {
    const answer = await fetch(`${stats}/metrics`, { headers: { accept } });
    return (await answer.text()).split('\n').flatMap((line) => {
      const parsed = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (parsed === null) return [];
      const [, name = '', labels = '', value] = parsed;
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        text,
      ]);
      return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
    });
  }

  function sum(series: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}): number {
    return series
      .filter(
        (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  }

  test('count known traffic of both threads, to the byte', async () => {
    const server = await answering(200, '0123456789');
    let calls = 0;
    const flaky = cleanup.add(
      await upstream((_request, response) => {
        calls += 1;
        response.writeHead(calls % 2 === 1 ? 503 : 200).end('again');
      }),
    );
    const running = await startRoutes(`
- {name: plain, ruleName: rule, matches: [{path: {exact: /plain}}], backends: [{host: "127.0.0.1:${server.port}"}]}
- {name: flaky, matches: [{path: {exact: /flaky}}], policies: {retry: {attempts: 1, codes: [503]}}, backends: [{host: "127.0.0.1:${flaky.port}"}]}
- {name: direct, matches: [{path: {exact: /direct}}], policies: {directResponse: {status: 403, body: no}}}
`);
    const times = async (count: number, path: string, options?: Ask): Promise<void> => {
      await Promise.all(Array.from({ length: count }, () => ask(running.port(80), path, options)));
    };
    await times(20, '/plain');
    await times(3, '/plain', { method: 'POST', body: 'x'.repeat(1000) });
    await times(1, '/flaky');
    await times(4, '/direct');
    await times(2, '/nothing');
    await times(1, '/plain', { method: 'PURGE' });
    await eventually('all is counted', async () => sum(await scrape(running), 'gw_requests_total') === 31);
    const series = await scrape(running);
    const route = { bind: 'bind/80', gateway: 'default/default', listener: 'default' };
    const plain = { ...route, route: 'default/plain', route_rule: 'rule', status: '200', reason: 'Upstream' };
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'GET', protocol: 'http' })).toBe(20);
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'POST' })).toBe(3);
    expect(sum(series, 'gw_requests_total', { ...plain, method: 'OTHER' })).toBe(1);
    expect(sum(series, 'gw_requests_total', { route: 'default/direct', status: '403', reason: 'DirectResponse' })).toBe(
      4,
    );
    expect(sum(series, 'gw_requests_total', { route: 'unknown', status: '404', reason: 'NotFound' })).toBe(2);
    expect(sum(series, 'gw_retries_total')).toBe(1);
    expect(sum(series, 'gw_response_bytes_total', plain)).toBe(240);
    expect(sum(series, 'gw_response_bytes_total', { route: 'default/direct' })).toBe(8);
    expect(sum(series, 'gw_request_duration_seconds_count', plain)).toBe(24);
    expect(sum(series, 'gw_request_processing_seconds_count')).toBe(25);
    expect(sum(series, 'gw_response_processing_seconds_count')).toBe(25);
    expect(sum(series, 'gw_upstream_call_duration_seconds_count', { kind: 'Primary', subtype: 'Http' })).toBe(26);
    const connections = sum(series, 'gw_upstream_connect_duration_seconds_count', { transport: 'plaintext' });
    expect(connections).toBeGreaterThanOrEqual(2);
    expect(connections).toBeLessThanOrEqual(26);
    expect(sum(series, 'gw_downstream_connections_total', { ...route, protocol: 'http' })).toBe(31);
    expect(sum(series, 'gw_downstream_received_bytes_total')).toBeGreaterThan(3000);
    expect(sum(series, 'gw_downstream_sent_bytes_total')).toBeGreaterThan(240);
    expect(series.filter(({ name }) => name.startsWith('gw_tls_handshake'))).toEqual([]);
  });

  test('have histograms whose buckets grow to their count', async () => {
    const server = await answering(200, 'x');
    const running = await startRoutes(`- backends: [{host: "127.0.0.1:${server.port}"}]`);
    for (let n = 0; n < 5; n++) await ask(running.port(80), '/');
    await eventually('all is counted', async () => sum(await scrape(running), 'gw_requests_total') === 5);
    const series = await scrape(running);
    for (const name of ['gw_request_duration_seconds', 'gw_upstream_call_duration_seconds']) {
      const own = ({ labels }: Series): boolean => labels['kind'] !== 'Mirror' && labels['subtype'] !== 'Llm';
      const buckets = series.filter((each) => each.name === `${name}_bucket` && own(each));
      const counts = buckets.map(({ value }) => value);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(buckets.at(-1)).toMatchObject({ value: 5, labels: { le: '+Inf' } });
      expect(sum(series, `${name}_count`)).toBe(5);
      const total = sum(series, `${name}_sum`);
      expect(total).toBeGreaterThan(0);
      expect(total).toBeLessThan(5 * 80);
    }
  });

  test('are OpenMetrics for those who ask for it', async () => {
    const running = await startRoutes('- policies: {directResponse: {status: 200}}');
    const answer = await fetch(`${running.stats}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
    expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
    expect(await answer.text()).toMatch(/# EOF\n$/);
    const other = await fetch(`${running.stats}/stats/prometheus`);
    expect([other.status, (await fetch(`${running.stats}/config_dump`)).status]).toEqual([200, 404]);
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
