import { describe, expect, test } from '@jest/globals';
import { Worker } from 'node:worker_threads';

import { choose, compileBuckets, type Candidate } from '../../../proxy/backends/balance.ts';
import { EndpointStore } from '../../../proxy/backends/endpoint-store.ts';
import { EndpointView } from '../../../proxy/backends/endpoint-view.ts';
import {
  accountFinish,
  evictionMs,
  outcomeOf,
  outcomeOfError,
  timedOut,
  type Endpoint,
} from '../../../proxy/backends/health.ts';
import { rateLimitHint } from '../../../proxy/backends/rate-limit-hint.ts';
import { UpstreamError } from '../../../proxy/backends/upstream.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { HealthPolicy } from '../../../src/config/ir/index.ts';

const NOW = 1_700_000_000_000;

function setup(count = 1, health?: HealthPolicy) {
  const store = new EndpointStore(16);
  const view = new EndpointView(store.buffer);
  const endpoints: Endpoint[] = Array.from({ length: count }, (_, i) => {
    const identity = `e${i}`;
    return { identity, name: identity, row: store.acquire(identity), health };
  });
  return { store, view, endpoints };
}

function first(endpoints: readonly Endpoint[]): Endpoint {
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error('no endpoint');
  return endpoint;
}

const failed = { outcome: outcomeOf(503), latencyMs: 5 };

describe('the state of an endpoint', () => {
  test('begins healthy and without numbers', () => {
    const { store } = setup();
    expect(store.describe('e0', NOW)).toEqual({
      health: 1,
      requestLatency: 0,
      pendingRequests: 0,
      totalRequests: 0,
      consecutiveFailures: 0,
      timesEjected: 0,
      evictedUntil: null,
      totalFailures: 0,
      totalEvictions: 0,
      lastError: null,
    });
  });

  test('moves by three tenths; the first latency counts whole', () => {
    const { store, view, endpoints } = setup();
    const endpoint = first(endpoints);
    view.started(endpoint.row);
    accountFinish(view, endpoint, { outcome: outcomeOf(200), latencyMs: 100 }, NOW);
    expect(store.describe('e0', NOW)).toMatchObject({
      requestLatency: 0.1,
      health: 1,
      totalRequests: 1,
      pendingRequests: 0,
    });
    view.started(endpoint.row);
    accountFinish(view, endpoint, { outcome: outcomeOf(200), latencyMs: 200 }, NOW);
    expect(store.describe('e0', NOW)?.requestLatency).toBe(0.13);
    view.started(endpoint.row);
    accountFinish(view, endpoint, failed, NOW);
    expect(store.describe('e0', NOW)).toMatchObject({
      health: 0.7,
      requestLatency: 0.13,
      consecutiveFailures: 1,
      totalFailures: 1,
      lastError: { kind: 'status', at: NOW },
    });
  });

  test('adds up what calls of a language model use', () => {
    const { store, view, endpoints } = setup(2);
    const { row } = first(endpoints);
    expect(store.spending('e0')).toEqual({ inputTokens: 0, outputTokens: 0, cost: 0n });
    view.spent(row, { inputTokens: 9, outputTokens: 5_000_000_000, cost: 825_000_000n });
    view.spent(row, { inputTokens: 1, outputTokens: 2, cost: 0n });
    expect(store.spending('e0')).toEqual({ inputTokens: 10, outputTokens: 5_000_000_002, cost: 825_000_000n });
    expect(store.spending('e1')).toEqual({ inputTokens: 0, outputTokens: 0, cost: 0n });
    expect(store.spending('nobody')).toBeUndefined();
  });

  test('is neither better nor worse for a call that the client gave up', () => {
    const { store, view, endpoints } = setup();
    view.started(first(endpoints).row);
    expect(store.describe('e0', NOW)?.pendingRequests).toBe(1);
    accountFinish(
      view,
      first(endpoints),
      { outcome: outcomeOfError(new UpstreamError('cancelled', '')), latencyMs: 1 },
      NOW,
    );
    expect(store.describe('e0', NOW)).toMatchObject({ pendingRequests: 0, health: 1, totalFailures: 0 });
  });

  test('outlives a reload that keeps the identity, and is new for one that was gone', () => {
    const store = new EndpointStore(2);
    const view = new EndpointView(store.buffer);
    const row = store.acquire('kept');
    view.started(row);
    expect(store.acquire('kept')).toBe(row);
    store.release('kept');
    expect(store.describe('kept', NOW)?.totalRequests).toBe(1);
    store.release('kept');
    expect(store.describe('kept', NOW)).toBeUndefined();
    store.acquire('other');
    store.acquire('kept');
    expect(store.describe('kept', NOW)?.totalRequests).toBe(0);
  });

  test('has room for so many endpoints and no more; a failed acquisition takes none', () => {
    const store = new EndpointStore(2);
    expect(() => store.acquireAll(['a', 'b', 'c'])).toThrow('more than 2 backend endpoints');
    expect([...store.acquireAll(['a', 'b', 'a']).keys()]).toEqual(['a', 'b']);
  });

  test('is one truth for several threads', async () => {
    const { store, endpoints } = setup();
    const source = `
      const { workerData } = require('node:worker_threads');
      import(workerData.module).then(({ EndpointView }) => {
        const view = new EndpointView(workerData.buffer);
        for (let i = 0; i < 2000; i++) { view.started(workerData.row); view.succeeded(workerData.row, 0.5); }
      });`;
    const module = new URL('../../../proxy/backends/endpoint-view.ts', import.meta.url).href;
    const workerData = { module, buffer: store.buffer, row: first(endpoints).row };
    const ends = [1, 2, 3].map(
      () =>
        new Promise<number>((resolve, reject) => {
          new Worker(source, { eval: true, workerData }).on('exit', resolve).on('error', reject);
        }),
    );
    expect(await Promise.all(ends)).toEqual([0, 0, 0]);
    expect(store.describe('e0', NOW)).toMatchObject({ totalRequests: 6000, pendingRequests: 0, requestLatency: 0.5 });
  });
});

describe('eviction', () => {
  const state = { healthBefore: 1, consecutiveFailures: 1 };
  const cases: [string, HealthPolicy | undefined, Partial<typeof state>, object, number | undefined][] = [
    ['never without a policy', undefined, {}, { rateLimitHintMs: 5 }, undefined],
    ['not without an eviction, a hint or a backoff', {}, {}, {}, undefined],
    ['by a hint alone', {}, {}, { rateLimitHintMs: 700 }, 700],
    ['by a retry backoff alone', {}, {}, { retryBackoffMs: 50 }, 50],
    ['3 s by default', { eviction: {} }, {}, {}, 3000],
    ['the duration before the hint', { eviction: { durationMs: 9 } }, {}, { rateLimitHintMs: 700 }, 9],
    ['not before so many failures', { eviction: { consecutiveFailures: 2 } }, {}, {}, undefined],
    ['after so many failures', { eviction: { consecutiveFailures: 2 } }, { consecutiveFailures: 2 }, {}, 3000],
    ['a count of 0 never', { eviction: { consecutiveFailures: 0 } }, {}, {}, undefined],
    ['health at the threshold does not', { eviction: { healthThreshold: 0.5 } }, { healthBefore: 0.5 }, {}, undefined],
    ['health below the threshold does', { eviction: { healthThreshold: 0.5 } }, { healthBefore: 0.49 }, {}, 3000],
    [
      'either threshold suffices',
      { eviction: { healthThreshold: 0.5, consecutiveFailures: 1 } },
      { healthBefore: 0.9 },
      {},
      3000,
    ],
  ];

  test.each(cases)('%s', (_name, policy, change, hints, expected) => {
    expect(evictionMs(policy, { ...state, ...change }, hints)).toBe(expected);
  });

  test('grows with each one, is not extended, and ends with the restored health', () => {
    const { store, view, endpoints } = setup(1, { eviction: { durationMs: 1000, restoreHealth: 0.2 } });
    const endpoint = first(endpoints);
    const fail = (now: number): boolean => {
      view.started(endpoint.row);
      return accountFinish(view, endpoint, failed, now);
    };
    expect(fail(NOW)).toBe(true);
    expect(fail(NOW + 500)).toBe(false);
    expect(store.describe('e0', NOW)).toMatchObject({ evictedUntil: NOW + 1000, timesEjected: 1 });
    expect(view.isEvicted(endpoint.row, NOW + 999, 0.2)).toBe(true);
    expect(view.isEvicted(endpoint.row, NOW + 1000, 0.2)).toBe(false);
    expect(view.someEvicted()).toBe(false);
    expect(store.describe('e0', NOW + 1000)).toMatchObject({ evictedUntil: null, health: 0.2 });
    expect(fail(NOW + 2000)).toBe(true);
    expect(store.describe('e0', NOW)?.evictedUntil).toBe(NOW + 4000);
  });

  test('a healthy outcome forgets ejections and failures', () => {
    const { store, view, endpoints } = setup(1, { eviction: { durationMs: 1 } });
    view.started(first(endpoints).row);
    accountFinish(view, first(endpoints), failed, NOW);
    view.started(first(endpoints).row);
    accountFinish(view, first(endpoints), { outcome: outcomeOf(204), latencyMs: 1 }, NOW);
    expect(store.describe('e0', NOW)).toMatchObject({ timesEjected: 0, consecutiveFailures: 0 });
  });

  test('a released row is evicted no more', () => {
    const { store, view, endpoints } = setup(1, { eviction: {} });
    view.started(first(endpoints).row);
    accountFinish(view, first(endpoints), failed, NOW);
    expect(view.someEvicted()).toBe(true);
    store.release('e0');
    expect(view.someEvicted()).toBe(false);
  });
});

describe('outcomes', () => {
  test.each([
    [200, null, 'healthy'],
    [404, null, 'healthy'],
    [429, null, 'healthy'],
    [500, null, 'unhealthy'],
    [200, 0, 'healthy'],
    [200, 14, 'unhealthy'],
  ])('status %s and gRPC status %s is %s', (status, grpcStatus, kind) => {
    expect(outcomeOf(status, grpcStatus).kind).toBe(kind);
  });

  test('no response is unhealthy', () => {
    expect(outcomeOfError(new UpstreamError('reset', ''))).toEqual({ kind: 'unhealthy', error: 'reset' });
    expect(timedOut.kind).toBe('unhealthy');
  });
});

describe('rate limit hints', () => {
  const cases: [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': new Date(NOW + 5000).toUTCString() }, 5000],
    [{ 'retry-after': new Date(NOW - 5000).toUTCString() }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': 'soon', 'retry-after-ms': '250' }, 250],
    [{ 'x-ratelimit-reset': '60' }, 60_000],
    [{ 'x-ratelimit-reset': String(NOW / 1000 + 30) }, 30_000],
    [{ 'x-ratelimit-reset-requests': '1m2.5s', 'x-ratelimit-reset-tokens': '30' }, 30_000],
    [{ 'x-ratelimit-reset-tokens-minute': '250ms' }, 250],
    [{ 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-reset-requests-day': '2h' }, 360_000],
    [
      {
        'anthropic-ratelimit-requests-remaining': '3',
        'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:00Z',
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': new Date(NOW + 4000).toISOString(),
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': new Date(NOW + 9000).toISOString(),
      },
      9000,
    ],
    [{ 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': 'soon' }, undefined],
    [{ 'x-ratelimit-reset-requests': '-1', 'retry-after-ms': 'NaN' }, undefined],
  ];

  test.each(cases)('%j is %s ms', (fields, expected) => {
    expect(rateLimitHint(Headers.from(Object.entries(fields)), NOW)).toBe(expected);
  });
});

describe('choosing an endpoint', () => {
  const evicting: HealthPolicy = { eviction: { durationMs: 1000 } };

  function candidates(endpoints: readonly Endpoint[], capacities: readonly number[] = []): Candidate[] {
    return endpoints.map((endpoint, i) => ({ endpoint, capacity: capacities[i] ?? 1 }));
  }

  function draws(...values: number[]): () => number {
    let at = 0;
    return () => values[at++] ?? 0;
  }

  test('takes the better of two draws', () => {
    const { view, endpoints } = setup(3);
    const buckets = compileBuckets([candidates(endpoints)]);
    for (let i = 0; i < 3; i++) view.failed(endpoints[1]?.row ?? -1, 'reset', NOW);
    const chosen = (random: () => number) => choose(buckets, { view, random, nowMs: NOW, viable: null })?.endpoint.name;
    expect(chosen(draws(0, 0.5))).toBe('e0');
    expect(chosen(draws(0.5, 0.99))).toBe('e2');
    expect(chosen(draws(0.5, 0.5))).toBe('e1');
    expect(chosen(draws(0, 0.99))).toBe('e2');
  });

  test('prefers the less busy one once it has a latency', () => {
    const { view, endpoints } = setup(2);
    const buckets = compileBuckets([candidates(endpoints)]);
    for (const { row } of endpoints) {
      view.started(row);
      view.succeeded(row, 1);
    }
    for (let i = 0; i < 5; i++) view.started(endpoints[1]?.row ?? -1);
    expect(choose(buckets, { view, random: draws(0, 0.9), nowMs: NOW, viable: null })?.endpoint.name).toBe('e0');
  });

  test('draws by capacity, and never one of capacity 0', () => {
    const { view, endpoints } = setup(3);
    const buckets = compileBuckets([candidates(endpoints, [1, 0, 9])]);
    const counts = new Map<string, number>();
    for (let i = 0; i < 1000; i++) {
      const at = (i + 0.5) / 1000;
      const name = choose(buckets, { view, random: draws(at, at), nowMs: NOW, viable: null })?.endpoint.name ?? 'none';
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual({ e0: 100, e2: 900 });
  });

  test('leaves evicted ones out, and falls to the next group when all of the first are', () => {
    const { view, endpoints } = setup(3, evicting);
    const buckets = compileBuckets([candidates(endpoints.slice(0, 2)), candidates(endpoints.slice(2))]);
    const chosen = (random: () => number) => choose(buckets, { view, random, nowMs: NOW, viable: null })?.endpoint.name;
    view.evict(endpoints[0]?.row ?? -1, 1000, NOW);
    expect(chosen(draws(0, 0))).toBe('e1');
    view.evict(endpoints[1]?.row ?? -1, 1000, NOW);
    expect(chosen(draws(0, 0))).toBe('e2');
    view.evict(endpoints[2]?.row ?? -1, 1000, NOW);
    expect(['e0', 'e1']).toContain(chosen(draws(0, 0)));
  });

  test('skips groups that are drained, and finds nothing when all are', () => {
    const { view, endpoints } = setup(2);
    const drained = compileBuckets([candidates(endpoints.slice(0, 1), [0]), candidates(endpoints.slice(1))]);
    expect(choose(drained, { view, random: draws(), nowMs: NOW, viable: null })?.endpoint.name).toBe('e1');
    expect(choose(compileBuckets([]), { view, random: draws(), nowMs: NOW, viable: null })).toBeUndefined();
  });

  test('looks through all groups when neither draw can take the request', () => {
    const { view, endpoints } = setup(3);
    const buckets = compileBuckets([candidates(endpoints.slice(0, 2)), candidates(endpoints.slice(2))]);
    const only = (name: string) => (candidate: Candidate) => candidate.endpoint.name === name;
    const chosen = (name: string) => choose(buckets, { view, random: draws(0, 0), nowMs: NOW, viable: only(name) });
    expect(chosen('e1')?.endpoint.name).toBe('e1');
    expect(chosen('e2')?.endpoint.name).toBe('e2');
    expect(chosen('nobody')).toBeUndefined();
  });
});
