import { describe, expect, test } from '@jest/globals';

import { emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { Effective } from '../../../proxy/policy/effective.ts';
import {
  compileBackendPipeline,
  compileGatewayPipeline,
  compileRoutePipeline,
} from '../../../proxy/policy/pipeline.ts';
import { runRequest, runResponse } from '../../../proxy/policy/run.ts';
import type { BackendPolicies, RoutePolicies } from '../../../src/config/ir/index.ts';
import { ManualBody, traced, untraced } from '../exchange/build.ts';
import type { TestDeps } from './build.ts';
import { deps } from './build.ts';

const set = (name: string, value = '1') => ({ add: [], set: [[name, value]], remove: [] }) as const;
const everything: RoutePolicies = {
  directResponse: {
    entries: [{ settings: { status: 200, body: { kind: 'bytes', bytes: Buffer.from('') }, headers: [] } }],
  },
  delay: { kind: 'fixed', durationMs: 5 },
  urlRewrite: { path: { kind: 'full', value: '/new' } },
  requestHeaderModifier: set('x-a'),
  responseHeaderModifier: set('x-side', 'route'),
  buffer: { request: { failureMode: 'failClosed' }, response: { maxBytes: 4, failureMode: 'failClosed' } },
  retry: { attempts: 1, backoffMs: 0, codes: [] },
  timeout: { requestTimeoutMs: 1000, backendRequestTimeoutMs: 100 },
};

function effective<P>(values: P): Effective<P> {
  return { values, sources: {} };
}

function routePipeline(values: RoutePolicies, own: TestDeps = deps()) {
  return compileRoutePipeline(effective(values), gatewayPipeline(own), own);
}

function gatewayPipeline(own: TestDeps = deps()) {
  return compileGatewayPipeline(effective({}), own);
}

function backendPipeline(values: BackendPolicies, route: RoutePolicies = {}, own: TestDeps = deps()) {
  return compileBackendPipeline(
    effective(values),
    { gateway: gatewayPipeline(own), route: routePipeline(route, own) },
    own,
  );
}

describe('the pipeline of a route', () => {
  test('has the documented order, whatever the order of the configuration', () => {
    const { request, response } = routePipeline({ ...everything, requestRedirect: { status: 301 } });
    expect(request.map((step) => step.policy)).toEqual([
      'timeout',
      'reservedCookies',
      'retry',
      'buffer',
      'requestHeaderModifier',
      'urlRewrite',
      'requestRedirect',
      'delay',
      'directResponse',
    ]);
    expect(response.map((step) => step.policy)).toEqual(['responseHeaderModifier', 'buffer']);
  });

  test('only keeps the cookies of logins from upstreams when there are no policies', () => {
    expect(routePipeline({})).toMatchObject({
      request: [{ policy: 'reservedCookies', stage: null }],
      response: [],
      mirrors: [],
      retry: null,
      timeout: null,
      hostRewrite: 'default',
    });
  });

  test('stays synchronous while its steps are', () => {
    const { request } = routePipeline({ requestHeaderModifier: set('x-a'), timeout: everything.timeout });
    expect(runRequest(request, untraced())).toEqual({ kind: 'next' });
  });

  test('waits where a step waits, then goes on', async () => {
    const own = deps();
    const { request } = routePipeline(everything, own);
    const exchange = untraced();
    const running = runRequest(request, exchange);
    expect(running).toBeInstanceOf(Promise);
    own.clock.advance(5);
    expect(await running).toMatchObject({ kind: 'respond', response: { status: 200 } });
    expect(exchange.request.target).toBe('/new');
  });

  test('tells the stage after each policy when somebody watches, and only then', async () => {
    const own = deps();
    const { request } = routePipeline({ ...everything, directResponse: undefined }, own);
    const { exchange, policies } = traced();
    const running = runRequest(request, exchange);
    own.clock.advance(5);
    await running;
    expect(own.stages).toEqual(['buffer', 'request header modifier', 'url rewrite', 'delay']);
    expect(policies.map((text) => text.split(':')[0])).toEqual([
      'timeout',
      'retry',
      'buffer',
      'request_header_modifier',
      'url_rewrite',
      'delay',
    ]);
    const silent = runRequest(request, untraced());
    own.clock.advance(5);
    await silent;
    expect(own.stages).toHaveLength(4);
  });

  test('stops at the step that answers or fails', () => {
    const { request } = routePipeline({ requestRedirect: { status: 301 }, directResponse: everything.directResponse });
    expect(runRequest(request, untraced())).toMatchObject({ kind: 'respond', policy: 'requestRedirect' });
    const failing = routePipeline({
      urlRewrite: { path: { kind: 'prefix', value: '/x' } },
      requestRedirect: { status: 301 },
    });
    expect(runRequest(failing.request, untraced({ target: '/a' }))).toMatchObject({ kind: 'fail' });
  });

  test('stops after a wait that failed', async () => {
    const own = deps();
    const { request } = routePipeline(everything, own);
    const exchange = untraced();
    const running = runRequest(request, exchange);
    exchange.clientLeft();
    expect(await running).toMatchObject({ kind: 'fail' });
  });

  test('keeps a host that a header modifier has set, unless a rewrite says otherwise', () => {
    const host = { requestHeaderModifier: set('host', 'b.test') };
    expect(routePipeline(host).hostRewrite).toBe('off');
    expect(routePipeline({ ...host, urlRewrite: { authority: { kind: 'auto' } } }).hostRewrite).toBe('auto');
    expect(routePipeline({ urlRewrite: { authority: { kind: 'none' } } }).hostRewrite).toBe('off');
  });

  test('refuses what cannot be compiled, naming who said it', () => {
    const spec = {
      values: { requestHeaderModifier: set('x-a', '\n') },
      sources: { requestHeaderModifier: 'route default/r1' },
    };
    expect(() => compileRoutePipeline(spec, gatewayPipeline(), deps())).toThrow(
      /requestHeaderModifier from route default\/r1/,
    );
  });
});

describe('the pipeline of a backend', () => {
  test('runs the backend after the route on responses, and the buffer last', async () => {
    const own = deps();
    const backend = backendPipeline({ responseHeaderModifier: set('x-side', 'backend') }, everything, own);
    const { exchange } = traced();
    const body = new ManualBody();
    const response = { status: 200, headers: new Headers(), body };
    const running = runResponse(backend.response, exchange, response);
    body.send('ok');
    body.end();
    expect(await running).toBeNull();
    expect(response.headers.get('x-side')).toBe('backend');
    expect(own.stages).toEqual(['response header modifier', 'backend response header modifier', 'buffer']);
  });

  test('gives the refusal that replaces a response', async () => {
    const body = new ManualBody();
    const running = runResponse(routePipeline(everything).response, untraced(), {
      status: 200,
      headers: new Headers(),
      body,
    });
    body.send('too long');
    expect(await running).toMatchObject({ status: 502 });
  });

  test('is synchronous when nothing waits', () => {
    const { response } = backendPipeline({ responseHeaderModifier: set('x-a') });
    expect(runResponse(response, untraced(), { status: 200, headers: new Headers(), body: emptyBody })).toBeNull();
  });

  test('limits a call by its own timeout before that of the route', () => {
    expect(backendPipeline({}).callTimeoutMs).toBeNull();
    expect(backendPipeline({}, everything).callTimeoutMs).toBe(100);
    expect(backendPipeline({ http: { requestTimeoutMs: 7 } }, everything).callTimeoutMs).toBe(7);
  });

  test('changes headers, then may redirect', () => {
    const { request } = backendPipeline({ requestRedirect: { status: 307 }, requestHeaderModifier: set('x-a') });
    expect(request.map((step) => [step.policy, step.stage])).toEqual([
      ['requestHeaderModifier', 'backend request header modifier'],
      ['requestRedirect', null],
    ]);
  });
});
