import { describe, expect, test } from '@jest/globals';
import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { modelAddresses } from '../../src/admin/views/model-address.ts';
import { modelRows } from '../../src/admin/views/models.ts';

const info = {
  health: 1,
  requestLatency: 0.2,
  pendingRequests: 1,
  totalRequests: 3,
  consecutiveFailures: 0,
  timesEjected: 0,
  evictedUntil: null,
};

function service(name: string, provider: object, more: object = {}, standsFor?: string) {
  return { [name]: { endpoint: { name, provider, standsFor }, info: { ...info, ...more }, capacity: 1 } };
}

function ai(name: string, ...providers: object[]) {
  return { backend: { ai: { name, namespace: 'default', target: { providers } } } };
}

function concrete(name: string, listenerKey: string, more: object = {}) {
  const kind = { concrete: { id: null, name, visibility: 'public', backend: `/llm:model:${name}`, ...more } };
  return { listenerKey, key: `llm:model:${name}`, name, routerKey: '/llm:router', kind };
}

function virtual(name: string, routing: object, more: object = {}) {
  return {
    listenerKey: 'l',
    key: `llm:virtual-model:${name}`,
    name,
    routerKey: '/llm:router',
    kind: { virtual: { name, routing, ...more } },
  };
}

const openai = { openAI: { model: 'gpt-x' } };
const spent = { inputTokens: 10, outputTokens: 20, cost: '0.0015' };

describe('models of a dump', () => {
  const dump = decodeConfigDump({
    binds: [],
    backends: [
      ai('/llm:model:a', { active: service('a', openai, spent), rejected: {} }),
      ai('/llm:model:b', {
        active: {},
        rejected: service('b', { custom: { identity: 'cohere' } }, { evictedUntil: '3s', lastError: 'status' }),
      }),
      ai(
        '/llm:virtual-model:any',
        {
          active: service(
            'a:0',
            openai,
            { ...spent, totalRequests: 1, requestLatency: 0.1, health: 0.5, lastError: 'reset' },
            '/llm:model:a',
          ),
          rejected: {},
        },
        {
          active: service('b:1', { anthropic: {} }, { ...spent, requestLatency: 0.5 }, '/llm:model:b'),
          rejected: {},
        },
      ),
    ],
    models: [
      concrete('a', 'one'),
      concrete('a', 'two'),
      concrete('b', 'one', { visibility: 'internal' }),
      virtual('any', {
        failover: {
          backend: '/llm:virtual-model:any',
          targets: [
            { model: 'a', priority: 0 },
            { model: 'b', priority: 1 },
          ],
        },
      }),
      virtual(
        'spread',
        {
          weighted: [
            { model: 'a', weight: 1 },
            { model: 'b', weight: 2 },
          ],
        },
        { info: { ...info, ...spent, health: 0.7, lastError: 'status' } },
      ),
      virtual('silent', { conditional: [{ model: 'a' }] }),
    ],
  });
  const rows = modelRows(dump);

  test('are listed once, with every listener that offers them', () => {
    expect(rows.map(({ name, listeners }) => [name, listeners.length])).toEqual([
      ['a', 2],
      ['b', 1],
      ['any', 1],
      ['spread', 1],
      ['silent', 1],
    ]);
  });

  test('have the numbers of the service that serves them, and of what virtual models asked it in their stead', () => {
    expect(rows[0]).toMatchObject({
      provider: 'openAI',
      visibility: 'public',
      leadsTo: ['gpt-x'],
      health: 1,
      available: 1,
      services: 1,
      requests: 4,
      pending: 2,
      inputTokens: 20,
      outputTokens: 40,
      cost: 0.003,
      latencyMs: 175,
      lastError: null,
    });
    expect(rows[1]).toMatchObject({
      provider: 'cohere',
      visibility: 'internal',
      available: 0,
      services: 1,
      lastError: 'status',
      requests: 6,
      cost: 0.0015,
    });
  });

  test('that fail over add theirs up; the latency counts by calls', () => {
    expect(rows[2]).toMatchObject({
      provider: 'failover',
      leadsTo: ['a', 'b'],
      available: 2,
      services: 2,
      requests: 4,
      inputTokens: 20,
      cost: 0.003,
      latencyMs: 400,
    });
  });

  test('that only lead to others have the numbers of what they passed on', () => {
    expect(rows[3]).toMatchObject({
      provider: 'weighted',
      leadsTo: ['a', 'b'],
      health: 0.7,
      services: 0,
      requests: 3,
      pending: 1,
      inputTokens: 10,
      outputTokens: 20,
      cost: 0.0015,
      latencyMs: 200,
      lastError: 'status',
    });
  });

  test('that only lead to others have no numbers where the proxy tells none', () => {
    expect(rows[4]).toMatchObject({
      provider: 'conditional',
      leadsTo: ['a'],
      health: null,
      requests: null,
      cost: null,
      latencyMs: null,
      lastError: null,
    });
  });

  test('of any other make are passed over or shown as far as they go', () => {
    const odd = decodeConfigDump({
      binds: [],
      models: [null, 7, {}, { name: 'x' }, { name: 'y', kind: { concrete: { backend: 'gone' } } }],
    });
    expect(modelRows(odd).map(({ name, provider, requests }) => [name, provider, requests])).toEqual([
      ['x', '', null],
      ['y', '', null],
    ]);
  });
});

describe('where models are asked', () => {
  const route = (key: string, backends: object[], path?: object, more: object = {}) => ({
    [key]: { key, name: key, namespace: 'default', backends, matches: path === undefined ? [] : [{ path, ...more }] },
  });
  const bind = (address: string, protocol: unknown, routes: object) => ({
    key: address,
    address,
    protocol: 'http',
    listeners: { l: { key: 'l', listenerName: 'l', protocol, routes } },
  });
  const backends = [
    ai('/chat', {}),
    { backend: { llmRouter: { name: 'llm:router' } } },
    { backend: { host: { name: 'shop', target: 'h:1' } } },
  ];

  test('is told by routes to such backends, the one with many models first', () => {
    const dump = decodeConfigDump({
      backends,
      binds: [
        bind('0.0.0.0:80', 'HTTP', route('shop', [{ backend: '/shop' }], { pathPrefix: '/' })),
        bind('[::]:81', 'HTTP', route('chat', [{ inlineBackend: { ai: { name: '/chat' } } }], { pathPrefix: '/ai/' })),
        bind('[::]:443', { HTTPS: {} }, route('llm', [{ backend: '/llm:router' }], { pathPrefix: '/' })),
      ],
    });
    expect(modelAddresses(dump)).toEqual([
      { scheme: 'https', port: 443, prefix: '', listener: 'l', route: 'llm', kind: 'llmRouter' },
      { scheme: 'http', port: 81, prefix: '/ai', listener: 'l', route: 'chat', kind: 'ai' },
    ]);
  });

  test('is not told by routes that want more than a path', () => {
    const wants = { headers: [{ name: 'x', value: { exact: 'y' } }] };
    const dump = decodeConfigDump({
      backends,
      binds: [
        bind('[::]:81', 'HTTP', {
          ...route('a', [{ backend: '/llm:router' }], { pathPrefix: '/' }, wants),
          ...route('b', [{ backend: '/llm:router' }], { exact: '/x' }),
        }),
      ],
    });
    expect(modelAddresses(dump)).toEqual([]);
  });
});
