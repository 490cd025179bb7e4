import { afterEach, describe, expect, test } from '@jest/globals';

import type { RateLimitRequest, RateLimitResponse } from '../../proxy/services/messages/rate-limit.ts';
import { serveRateLimit, StatusError } from '../services/envoy.ts';
import { eventually, RawClient } from './clients.ts';
import { type Ask, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Decide = (request: RateLimitRequest) => RateLimitResponse | Promise<RateLimitResponse>;

const ok: RateLimitResponse = { overallCode: 'OK' };
const TEAM = '{entries: [{key: team, value: "request.headers[\'x-team\']"}]}';

async function service(decide: Decide = () => ok) {
  return cleanup.add(await serveRateLimit(decide));
}

interface Setup {
  readonly port: number;
  readonly descriptors?: string;
  readonly more?: string;
  readonly policies?: string;
}

/** A gateway whose only route asks the service, in front of an upstream that echoes. */
async function gatewayWith({ port, descriptors = TEAM, more = '', policies = '' }: Setup) {
  let reached = 0;
  const backend = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      if (request.url === '/own') response.setHeader('x-ratelimit-limit', 'upstream');
      echo(request, response);
    }),
  );
  const policy = `{host: "127.0.0.1:${port}", domain: shop, descriptors: [${descriptors}]${more === '' ? '' : `, ${more}`}}`;
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {remoteRateLimit: ${policy}${policies === '' ? '' : `, ${policies}`}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`),
  );
  return {
    ...running,
    reached: () => reached,
    ask: (path: string, options: Ask = { headers: { 'x-team': 'red' } }) => ask(running.port(80), path, options),
  };
}

const half: NonNullable<RateLimitResponse['statuses']> = [
  {
    code: 'OK',
    currentLimit: { requestsPerUnit: 10, unit: 'MINUTE' },
    limitRemaining: 5,
    durationUntilReset: { seconds: 9 },
  },
];

describe('a rate limit service', () => {
  test('is asked about the descriptors of a request, with their cost and limit', async () => {
    const server = await service();
    const descriptors = `${TEAM}, {entries: [{key: path, value: request.path}, {key: n, value: "2"}], cost: "3", limitOverride: "{'unit': 'minute', 'requestsPerUnit': 7}"}`;
    const gateway = await gatewayWith({ port: server.port, descriptors });
    expect((await gateway.ask('/a')).status).toBe(200);
    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    expect(request).toMatchObject({ domain: 'shop' });
    expect(JSON.parse(JSON.stringify(request?.['descriptors']))).toMatchObject([
      { entries: [{ key: 'team', value: 'red' }] },
      {
        entries: [
          { key: 'path', value: '/a' },
          { key: 'n', value: '2' },
        ],
        limit: { requestsPerUnit: 7, unit: 'MINUTE' },
        hitsAddend: { value: expect.anything() },
      },
    ]);
  });

  test('is not asked when no descriptor has its values', async () => {
    const server = await service(() => ({ overallCode: 'OVER_LIMIT' }));
    const gateway = await gatewayWith({
      port: server.port,
      descriptors: `${TEAM}, {entries: [{key: a, value: jwt.sub}]}`,
    });
    expect((await gateway.ask('/', {})).status).toBe(200);
    expect(server.requests).toHaveLength(0);
    expect((await gateway.ask('/')).status).toBe(429);
  });

  test('refuses in its own words, and nothing reaches the backend', async () => {
    const server = await service(() => ({
      overallCode: 'OVER_LIMIT',
      statuses: [{ ...half[0], code: 'OVER_LIMIT', limitRemaining: 0 }],
      rawBody: Buffer.from('{"slow":"down"}'),
      responseHeadersToAdd: [
        { key: 'content-type', value: 'application/json' },
        { key: 'x-gw-ratelimited', value: 'true' },
      ],
    }));
    const gateway = await gatewayWith({ port: server.port });
    const answer = await gateway.ask('/', { method: 'POST', body: 'hello', headers: { 'x-team': 'red' } });
    expect(answer).toMatchObject({ status: 429, body: '{"slow":"down"}' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-gw-ratelimited': 'true',
      'x-gw-reason': 'RateLimit',
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '9',
    });
    expect(gateway.reached()).toBe(0);
    await gateway.logged('reason=RateLimit', 'http.status=429');
  });

  test('may refuse without a word', async () => {
    const server = await service(() => ({ overallCode: 'OVER_LIMIT' }));
    const gateway = await gatewayWith({ port: server.port });
    const answer = await gateway.ask('/');
    expect(answer).toMatchObject({ status: 429, body: '' });
    expect(answer.headers).not.toHaveProperty('x-ratelimit-limit');
  });

  test('tells gRPC clients in their own words', async () => {
    const server = await service(() => ({ overallCode: 'OVER_LIMIT', rawBody: Buffer.from('no') }));
    const gateway = await gatewayWith({ port: server.port });
    const headers = { 'x-team': 'red', 'content-type': 'application/grpc' };
    const answer = await gateway.ask('/s.S/M', { method: 'POST', headers });
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer.headers['grpc-status']).toBe('14');
  });

  test('adds headers to the request and the response', async () => {
    const server = await service(() => ({
      ...ok,
      requestHeadersToAdd: [{ key: 'x-tier', value: 'gold' }],
      responseHeadersToAdd: [{ key: 'x-budget', value: 'fine' }],
    }));
    const gateway = await gatewayWith({ port: server.port });
    const answer = await gateway.ask('/', { headers: { 'x-team': 'red', 'x-tier': 'forged' } });
    expect(answer.headers['x-budget']).toBe('fine');
    expect(JSON.parse(answer.body).headers['x-tier']).toBe('gold');
  });
});

describe('the budget that a client is told', () => {
  const trio = ({ headers }: { headers: Record<string, unknown> }) =>
    ['limit', 'remaining', 'reset'].map((name) => headers[`x-ratelimit-${name}`]);

  test('is the one of the service', async () => {
    const server = await service(() => ({ ...ok, statuses: half }));
    const gateway = await gatewayWith({ port: server.port });
    expect(trio(await gateway.ask('/'))).toEqual(['10', '5', '9']);
  });

  test('is left alone where the service or the backend tells of one', async () => {
    const headers = [{ key: 'x-ratelimit-limit', value: '10, 10;w=60' }];
    let responseHeadersToAdd: typeof headers = [];
    const server = await service(() => ({ ...ok, statuses: half, responseHeadersToAdd }));
    const gateway = await gatewayWith({ port: server.port });
    expect(trio(await gateway.ask('/own'))[0]).toBe('upstream');
    responseHeadersToAdd = headers;
    expect(trio(await gateway.ask('/'))).toEqual(['10, 10;w=60', undefined, undefined]);
  });

  test('is the local one where there is a local limit, which comes first', async () => {
    const server = await service(() => ({ ...ok, statuses: half }));
    const local = 'localRateLimit: [{maxTokens: 2, tokensPerFill: 2, fillInterval: 1h}]';
    const gateway = await gatewayWith({ port: server.port, policies: local });
    expect(trio(await gateway.ask('/')).slice(0, 2)).toEqual(['2', '1']);
    await gateway.ask('/');
    expect((await gateway.ask('/')).status).toBe(429);
    expect(server.requests).toHaveLength(2);
  });
});

describe('a service that fails', () => {
  const modes: readonly (readonly [string, number, string])[] = [
    ['failClosed', 500, 'rate limit failed'],
    ['FailClosed', 500, 'rate limit failed'],
    ['failOpen', 200, ''],
    ['FailOpen', 200, ''],
  ];

  test.each(modes)('because it is down, under %s', async (mode, status, body) => {
    const gateway = await gatewayWith({ port: 1, more: `failureMode: ${mode}` });
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).toContain(body);
    expect(gateway.reached()).toBe(status === 200 ? 1 : 0);
    await gateway.logged('warn', 'rate_limit', 'the service cannot be asked');
  });

  test.each(modes.slice(1, 3))('with a status of gRPC, under %s', async (mode, status) => {
    const server = await service(() => {
      throw new StatusError(13, 'at 10.1.2.3');
    });
    const gateway = await gatewayWith({ port: server.port, more: `failureMode: ${mode}` });
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(status);
    expect(answer.body).not.toContain('10.1.2.3');
  });

  test.each(modes.slice(1, 3))('because it is slow, under %s', async (mode, status) => {
    const server = await service(() => new Promise(() => {}));
    const more = `failureMode: ${mode}, policies: {http: {requestTimeout: 50ms}}`;
    const gateway = await gatewayWith({ port: server.port, more });
    expect((await gateway.ask('/')).status).toBe(status);
  });

  test.each(modes.slice(1, 3))('because it speaks something else, under %s', async (mode, status) => {
    const other = cleanup.add(await upstream((_request, response) => response.end('hello')));
    const gateway = await gatewayWith({ port: other.port, more: `failureMode: ${mode}` });
    expect((await gateway.ask('/')).status).toBe(status);
  });

  test('is given up when the request has no more time, and when the client leaves', async () => {
    const server = await service(() => new Promise(() => {}));
    const policies = 'timeout: {requestTimeout: 80ms}';
    const gateway = await gatewayWith({ port: server.port, more: 'failureMode: failOpen', policies });
    expect(await gateway.ask('/')).toMatchObject({ status: 504, body: 'request timeout' });
    const client = new RawClient(gateway.port(80));
    client.write('GET / HTTP/1.1\r\nhost: shop.test\r\nx-team: red\r\n\r\n');
    await eventually('the question', () => server.requests.length === 2);
    client.socket.destroy();
    await gateway.logged('http.status=499');
    expect(gateway.reached()).toBe(0);
  });
});

describe('a policy', () => {
  test('may be chosen by the request', async () => {
    const server = await service((request) => ({ overallCode: request.domain === 'tight' ? 'OVER_LIMIT' : 'OK' }));
    const entry = (domain: string): string =>
      `host: "127.0.0.1:${server.port}", domain: ${domain}, descriptors: [{entries: [{key: a, value: "'b'"}]}]`;
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    remoteRateLimit:
      conditional:
      - {condition: "request.path == '/tight'", ${entry('tight')}}
      - {${entry('loose')}}
    directResponse: {status: 200}
`),
    );
    expect((await ask(gateway.port(80), '/tight')).status).toBe(429);
    expect((await ask(gateway.port(80), '/')).status).toBe(200);
    expect(server.requests.map(({ domain }) => domain)).toEqual(['tight', 'loose']);
  });

  test('tells a trace what is left', async () => {
    const server = await service(() => ({ ...ok, statuses: half }));
    const gateway = await gatewayWith({ port: server.port });
    const watching = await fetch(`${gateway.admin}/debug/trace`);
    await gateway.ask('/');
    const events = await watching.text();
    expect(events).toContain('within the limit, 5 of 10 left, reset in 9s');
    expect(events).toContain('"scope":["rate_limit"]');
  });
});
