import { describe, expect, test } from '@jest/globals';

import type { ResourceContent } from '../../../proxy/resources/content.ts';
import { keyOf } from '../../../proxy/resources/content.ts';
import type { Fetched } from '../../../proxy/resources/fetch-document.ts';
import { RemoteResources } from '../../../proxy/resources/remote-resources.ts';
import { ThreadResources } from '../../../proxy/resources/thread-resources.ts';
import type {
  GatewayConfig,
  RemoteDiscovery,
  RemoteDocument,
  RemoteKeySet,
  RemoteOpenApi,
} from '../../../src/config/ir/index.ts';
import { LogFilter, Logger } from '../../../src/shared/log.ts';
import { ManualClock } from '../exchange/build.ts';
import { gatewayConfig } from '../supervisor/world.ts';
import { keySetText } from './server.ts';

const keys: RemoteKeySet = { kind: 'remote', content: 'keySet', url: 'https://issuer.test/keys?token=hidden' };
const issuer = 'https://issuer.test';
const discovery: RemoteDiscovery = { kind: 'remote', content: 'discovery', url: `${issuer}/discovery`, issuer };

function metadata(jwks: string): string {
  return JSON.stringify({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/${jwks}`,
  });
}

/** A configuration that refers to documents; where they stand does not matter. */
function referring(...documents: RemoteDocument[]): GatewayConfig {
  return { ...gatewayConfig({}), documents } as GatewayConfig; // a place that the model does not have
}

class Rig {
  readonly clock = new ManualClock();
  readonly answers = new Map<string, string | Error | Promise<string>>();
  readonly fetched: string[] = [];
  readonly published: ResourceContent[][] = [];
  readonly lines: string[] = [];
  readonly thread = new ThreadResources((key) => this.resources.refetch(key));
  readonly resources: RemoteResources;
  freshMs = 900_000;

  constructor() {
    const filter = LogFilter.parse('info');
    if (typeof filter === 'string') throw new Error(filter);
    const logger = new Logger({ filter, format: 'text', write: (line) => void this.lines.push(line) });
    this.resources = new RemoteResources({
      clock: this.clock,
      random: () => 0.5,
      log: logger.scope('resources'),
      fetch: async (url): Promise<Fetched> => {
        this.fetched.push(url);
        const answer = await this.answers.get(url);
        if (answer === undefined || answer instanceof Error) throw answer ?? new Error('not there');
        return { kind: 'text', text: answer, etag: undefined, freshMs: this.freshMs };
      },
      publish: (contents) => {
        this.published.push([...contents]);
        this.thread.update(contents);
      },
    });
  }

  async live(config: GatewayConfig): Promise<void> {
    await this.resources.load(config);
    this.thread.update(this.resources.contents(config));
    this.resources.retain(config);
  }

  async passes(ms: number): Promise<void> {
    this.clock.advance(ms);
    await turns();
  }

  get kids(): readonly string[] | undefined {
    return this.thread.keySet(keys).current?.map(({ kid }) => kid);
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

describe('remote resources', () => {
  test('are fetched once before a configuration is live, however often it names them', async () => {
    const rig = new Rig();
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(keys, keys, { ...keys }));
    expect(rig.fetched).toEqual([keys.url]);
    expect(rig.kids).toEqual(['k1']);
    await rig.live(referring(keys));
    expect(rig.fetched).toHaveLength(1);
  });

  test('reject the configuration when one cannot be had, naming all of them without their queries', async () => {
    const rig = new Rig();
    rig.answers.set(keys.url, new Error('the server answered with status 503'));
    const loading = rig.resources.load(referring(keys, discovery));
    await expect(loading).rejects.toMatchObject({ code: 'GW_RESOURCE_FETCH' });
    await expect(loading).rejects.toThrow(
      'cannot load the key set https://issuer.test/keys?…: the server answered with status 503\n' +
        'cannot load the discovery document https://issuer.test/discovery: not there',
    );
    await expect(loading).rejects.not.toThrow('hidden');
  });

  test.each([
    ['no JSON', '<html>', 'it is not JSON'],
    ['another document', '{"error":"none"}', 'it is no JSON Web Key Set: there is no list `keys`'],
    [
      'a key without an id',
      JSON.stringify({ keys: [{ kty: 'RSA' }] }),
      'its key 0 has no `kid`, by which tokens name it',
    ],
    [
      'no usable key',
      JSON.stringify({ keys: [{ kid: 'a', kty: 'oct', k: 'x' }] }),
      'it holds no key that signatures can be verified with',
    ],
  ])('reject the configuration when the server answers with %s', async (_what, text, message) => {
    const rig = new Rig();
    rig.answers.set(keys.url, text);
    await expect(rig.resources.load(referring(keys))).rejects.toThrow(message);
  });

  test('are refreshed when they are no longer fresh, and what has changed is published', async () => {
    const rig = new Rig();
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(keys));
    await rig.passes(899_999);
    expect(rig.fetched).toHaveLength(1);
    await rig.passes(1);
    expect(rig.fetched).toHaveLength(2);
    expect(rig.published).toEqual([]);
    rig.answers.set(keys.url, keySetText('k1', 'k2'));
    const before = rig.thread.generation;
    await rig.passes(900_000);
    expect(rig.published).toHaveLength(1);
    expect(rig.kids).toEqual(['k1', 'k2']);
    expect(rig.thread.generation).toBeGreaterThan(before);
  });

  test.each([
    ['down', new Error('connect ECONNREFUSED')],
    ['garbage', 'nothing'],
  ])('keep what is there while the server is %s, and try again every 15 seconds', async (_what, answer) => {
    const rig = new Rig();
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(keys));
    rig.answers.set(keys.url, answer);
    await rig.passes(900_000);
    await rig.passes(15_000);
    await rig.passes(15_000);
    expect(rig.fetched).toHaveLength(4);
    expect(rig.kids).toEqual(['k1']);
    expect(rig.lines.filter((line) => line.includes('could not be refreshed'))).toHaveLength(3);
    expect(rig.lines.join('')).not.toContain('hidden');
    rig.answers.set(keys.url, keySetText('k2'));
    await rig.passes(15_000);
    expect(rig.kids).toEqual(['k2']);
  });

  test('are fetched at once when a thread misses something, but not again within ten seconds', async () => {
    const rig = new Rig();
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(keys));
    rig.answers.set(keys.url, keySetText('k2'));
    await Promise.all([rig.resources.refetch(keyOf(keys)), rig.resources.refetch(keyOf(keys))]);
    expect(rig.kids).toEqual(['k2']);
    expect(rig.fetched).toHaveLength(2);
    await rig.resources.refetch(keyOf(keys));
    await rig.passes(9999);
    await rig.resources.refetch(keyOf(keys));
    expect(rig.fetched).toHaveLength(2);
    await rig.passes(2);
    await rig.resources.refetch(keyOf(keys));
    expect(rig.fetched).toHaveLength(3);
    await rig.resources.refetch('keySet https://nobody.test/');
    expect(rig.fetched).toHaveLength(3);
  });

  test('that lead to others bring them along, at load and when they change', async () => {
    const rig = new Rig();
    rig.answers.set(discovery.url, metadata('old'));
    rig.answers.set(`${issuer}/old`, keySetText('old'));
    const config = referring(discovery);
    await rig.live(config);
    expect(rig.resources.contents(config)).toHaveLength(2);
    rig.answers.set(discovery.url, metadata('new'));
    await rig.passes(900_000);
    expect(rig.thread.discovery(discovery).current?.jwksUri).toBe(`${issuer}/old`);
    rig.answers.set(`${issuer}/new`, keySetText('new'));
    await rig.passes(15_000);
    expect(rig.thread.discovery(discovery).current?.jwksUri).toBe(`${issuer}/new`);
    const led: RemoteKeySet = { kind: 'remote', content: 'keySet', url: `${issuer}/new` };
    expect(rig.thread.keySet(led).current).toHaveLength(1);
  });

  test('have to be of the issuer that the configuration names', async () => {
    const rig = new Rig();
    rig.answers.set(discovery.url, metadata('keys').replace('"https://issuer.test"', '"https://issuer.test/"'));
    await expect(rig.resources.load(referring(discovery))).rejects.toThrow(
      'it is of the issuer "https://issuer.test/", not of "https://issuer.test"',
    );
  });

  test('are forgotten with the configuration that named them, and nothing is fetched any more', async () => {
    const rig = new Rig();
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(keys));
    rig.resources.retain(referring());
    expect(rig.clock.pending).toBe(0);
    expect(rig.resources.contents(referring(keys))).toEqual([]);
  });

  test('that arrive after the gateway has ended are not kept', async () => {
    const rig = new Rig();
    const late = Promise.withResolvers<string>();
    rig.answers.set(keys.url, late.promise);
    const loading = rig.resources.load(referring(keys));
    await turns();
    rig.resources.close();
    late.resolve(keySetText('k1'));
    await expect(loading).rejects.toThrow('shutting down');
    expect(rig.clock.pending).toBe(0);
  });
});

describe('fetched documents in a data thread', () => {
  test('never go back to an older content', () => {
    const thread = new ThreadResources();
    const content = { key: keyOf(keys), document: keys };
    thread.update([{ ...content, text: keySetText('new'), version: 2 }]);
    thread.update([{ ...content, text: keySetText('old'), version: 1 }]);
    expect(thread.keySet(keys).current?.[0]?.kid).toBe('new');
    expect(thread.keySet(keys).version).toBe(2);
    thread.retainOnly(new Set());
    expect(thread.keySet(keys).current).toBeNull();
  });

  test('are asked for once, however many requests miss something, and a refusal is no failure', async () => {
    const answer = Promise.withResolvers<void>();
    let asked = 0;
    const thread = new ThreadResources(() => {
      asked += 1;
      return answer.promise;
    });
    const waiting = [thread.keySet(keys).refetch(), thread.keySet(keys).refetch()];
    answer.reject(new Error('busy'));
    await Promise.all(waiting);
    await thread.keySet(keys).refetch();
    expect(asked).toBe(1);
  });

  test('are empty where nothing is fetched', async () => {
    const thread = new ThreadResources();
    await thread.keySet(keys).refetch();
    expect(thread.keySet(keys).current).toBeNull();
    expect(thread.discovery(discovery).current).toBeNull();
    expect(thread.generation).toBe(0);
  });
});

describe('OpenAPI documents', () => {
  const openApi: RemoteOpenApi = { kind: 'remote', content: 'openApi', url: 'https://pets.test/openapi.yaml' };

  test('reach the data threads read, and keep the last good one', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, 'openapi: 3.0.0\npaths: {/a: {}}');
    await rig.live(referring(openApi));
    const live = rig.thread.openApi(openApi);
    expect(live.current).toEqual({ openapi: '3.0.0', paths: { '/a': {} } });
    const { version } = live;
    rig.answers.set(openApi.url, 'swagger: "2.0"');
    await rig.passes(rig.freshMs);
    expect(live.version).toBe(version);
    expect(rig.lines.join()).toContain('the OpenAPI document could not be refreshed');
    rig.answers.set(openApi.url, '{"openapi": "3.1.0", "paths": {}}');
    await rig.passes(15_000);
    expect(live.current).toEqual({ openapi: '3.1.0', paths: {} });
    expect(live.version).toBeGreaterThan(version);
  });

  test('that no tools can be made of any more do not replace what is there, and changes are told at once', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, '{"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "a"}}}}');
    await rig.live(referring(openApi));
    const live = rig.thread.openApi(openApi);
    const seen: unknown[] = [];
    const stop = live.watch(() => seen.push(live.current?.openapi));
    rig.answers.set(openApi.url, '{"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}');
    await rig.passes(rig.freshMs);
    expect(live.current).toMatchObject({ openapi: '3.1.0' });
    expect(rig.lines.join()).toContain('GET /a: operationId is missing');
    rig.answers.set(openApi.url, '{"openapi": "3.2.0", "paths": {}}');
    await rig.passes(15_000);
    expect(seen).toEqual(['3.2.0']);
    stop();
    rig.answers.set(openApi.url, '{"openapi": "3.0.1", "paths": {}}');
    await rig.passes(rig.freshMs);
    expect(seen).toEqual(['3.2.0']);
  });

  const optional: RemoteOpenApi = { ...openApi, optional: true };
  const document = '{"openapi": "3.1.0", "paths": {}}';

  test('that a configuration can do without are asked for again, less and less often, until they come', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, new Error('the server answered with status 503'));
    rig.answers.set(keys.url, keySetText('k1'));
    await rig.live(referring(optional, keys));
    const live = rig.thread.openApi(openApi);
    const seen: unknown[] = [];
    live.watch(() => seen.push(live.current?.openapi));
    expect(rig.kids).toEqual(['k1']);
    expect(live.current).toBeNull();
    const asked = () => rig.fetched.filter((url) => url === openApi.url).length;
    expect(rig.lines.join()).toMatch(/WARN|warn/);
    expect(rig.lines.join()).toContain('targets are left out until their document comes');
    expect(rig.lines.join()).toContain('status 503');
    for (const [passed, times] of [
      [999, 1],
      [1, 2],
      [1999, 2],
      [1, 3],
      [4000, 4],
      [8000, 5],
      [16_000, 6],
      [32_000, 7],
      [60_000, 8],
      [59_999, 8],
      [1, 9],
    ] as const) {
      await rig.passes(passed);
      expect(asked()).toBe(times);
    }
    rig.answers.set(openApi.url, document);
    await rig.passes(60_000);
    // Tools are made of it first, which takes more than a turn.
    await rig.passes(0);
    expect(seen).toEqual(['3.1.0']);
    expect(rig.lines.join()).toContain('the OpenAPI document has come and is in use');
    await rig.passes(600_000);
    expect(asked()).toBe(10);
  });

  test('that a configuration can do without reach the data threads when a later, rejected one has fetched them', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, new Error('down'));
    const config = referring(optional);
    await rig.live(config);
    rig.answers.set(openApi.url, document);
    await rig.resources.load(referring(optional, discovery)).catch(() => null);
    rig.resources.retain(config);
    expect(rig.thread.openApi(openApi).current).toMatchObject({ openapi: '3.1.0' });
  });

  test('are needed as soon as somebody cannot do without, and forgotten with the configuration', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, new Error('down'));
    for (const both of [referring(optional, openApi), referring(openApi, optional)]) {
      const loading = rig.resources.load(both);
      await expect(loading).rejects.toThrow('cannot load the OpenAPI document https://pets.test/openapi.yaml: down');
      await expect(loading).rejects.toMatchObject({ hint: expect.stringContaining('failureMode: failOpen') });
    }
    await rig.live(referring(optional));
    await rig.live(referring());
    const { length } = rig.fetched;
    await rig.passes(600_000);
    expect(rig.fetched).toHaveLength(length);
    await rig.live(referring(optional));
    rig.resources.close();
    await rig.passes(600_000);
    expect(rig.fetched).toHaveLength(length + 1);
  });

  test('that no tools can be made of at first reject the configuration', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, '{"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}');
    await expect(rig.live(referring(openApi))).rejects.toThrow('GET /a: operationId is missing');
  });

  test('are told when they cannot be used at first', async () => {
    const rig = new Rig();
    rig.answers.set(openApi.url, '[]');
    await expect(rig.live(referring(openApi))).rejects.toThrow(
      'cannot load the OpenAPI document https://pets.test/openapi.yaml: it is not an object',
    );
  });
});
