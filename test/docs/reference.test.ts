import { afterEach, describe, expect, test } from '@jest/globals';

import { AccessLog } from '../../proxy/telemetry/access-log.ts';
import { METRIC_PREFIX, trafficMetrics } from '../../proxy/telemetry/metric-catalog.ts';
import { logLevels } from '../../src/shared/log.ts';
import { ask, Cleanup, startGateway } from '../e2e/gateway.ts';
import { blocks, codeSpans, read, section, table } from './markdown.ts';
import { schemaKeys } from './schema-keys.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SOME_TRAFFIC = `
gateways:
  default: {port: 8080}
  app: {port: 9000}
routes:
- policies: {requestMirror: {backend: {host: "127.0.0.1:1"}, percentage: 0}}
  backends: [{host: "127.0.0.1:1"}]
- {gateways: app, policies: {directResponse: {status: 200}}}
`;

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');
  const keys = schemaKeys();

  test('names every key that has an effect', () => {
    const named = new Set([
      ...codeSpans(page).flatMap((span) => span.split(/[^\w]+/)),
      ...blocks(page).flatMap(({ text }) => [...text.matchAll(/[A-Za-z]\w*/g)].map(([word]) => word)),
    ]);
    expect([...keys.built].filter((key) => !named.has(key))).toEqual([]);
  });

  test('lists every key that is refused as not built, and no other', () => {
    const listed = new Set(codeSpans(section(page, 'Refused as not built yet')));
    const quoted = new Set([...keys.refused].flatMap((what) => [...what.matchAll(/`([^`]+)`/g)].map(([, key]) => key)));
    expect([...listed].sort()).toEqual([...quoted].sort());
  });

  test('names the environment variables that are read', () => {
    const named = codeSpans(section(page, 'The process')).filter((span) => /^[A-Z][A-Z0-9_]+$/.test(span));
    const source = read('src/config/normalize/process.ts');
    const used = [...source.matchAll(/settings\.(?:read|address)\(\s*'([A-Z0-9_]+)'/g)].map(([, name]) => name);
    expect(named.toSorted()).toEqual([...new Set(used)].toSorted());
  });
});

describe('docs/admin.md', () => {
  const page = read('docs/admin.md');

  test('has the endpoints of the index page with their methods', async () => {
    const gateway = cleanup.add(await startGateway(SOME_TRAFFIC));
    const index = await (await fetch(gateway.admin)).text();
    const shown = [...index.matchAll(/<li>(.*?)<\/li>/g)].map(([, row = '']) => ({
      path: /<(?:code|a [^>]*)>([^<]+)</.exec(row)?.[1],
      methods: [...row.matchAll(/<b>(\w+)<\/b>/g)].map(([, method]) => method).join(', '),
    }));
    expect(table(page).map(([path, methods]) => ({ path, methods }))).toEqual(shown);
  });

  test('names the query parameters of the index page', async () => {
    const gateway = cleanup.add(await startGateway(SOME_TRAFFIC));
    const index = await (await fetch(gateway.admin)).text();
    const parameters = [...index.matchAll(/<small>(.*?)<\/small>/g)].flatMap(([, text = '']) =>
      [...text.matchAll(/\b(\w+)=/g)].map(([, name]) => name),
    );
    const named = table(page)
      .map((row) => row[2] ?? '')
      .join(' ');
    expect(parameters.filter((name) => name !== 'scope' && !named.includes(name ?? ''))).toEqual([]);
  });

  test.each(['config_dump', 'config_status'])('shows keys of /%s that a running gateway has', async (path) => {
    const gateway = cleanup.add(await startGateway(SOME_TRAFFIC));
    const answer: unknown = await (await fetch(`${gateway.admin}/${path}`)).json();
    const shown: unknown = JSON.parse(blocks(section(page, `/${path}`))[0]?.text ?? '');
    expect(keysOf(answer)).toEqual(expect.arrayContaining([...keysOf(shown)]));
  });

  test('names every type of message that a trace has', () => {
    const source = read('src/admin/protocol/trace-event.ts');
    const types = [...source.matchAll(/^ {2,6}\|? ?\{?\s*(?:readonly )?type: '(\w+)'/gm)].map(([, type]) => type);
    const later = new Set(['cel', 'traceSampling', 'authorizationResult', 'message', 'skip', 'apply']);
    const named = codeSpans(section(page, '/debug/trace'));
    expect(types.length).toBeGreaterThan(5);
    expect(types.filter((type) => !later.has(type ?? '') && !named.includes(type ?? ''))).toEqual([]);
  });
});

describe('docs/observability.md', () => {
  const page = read('docs/observability.md');

  test('has the metrics of a live scrape, and of the catalogue, with their labels', async () => {
    const gateway = cleanup.add(await startGateway(SOME_TRAFFIC));
    await ask(gateway.port(8080), '/');
    const scrape = await (await fetch(`http://${gateway.gateway.addresses.stats}/metrics`)).text();
    const live = [...scrape.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
    const catalogued = Object.values(trafficMetrics).map(({ name, kind }) => `${METRIC_PREFIX}${name} ${kind}`);
    const documented = new Set(table(section(page, 'Metrics')).map(([name, kind]) => `${name} ${kind}`));
    const figures = /^gw_(process|cgroup)_\w+_bytes gauge$/;
    expect([...live, ...catalogued].filter((each) => !documented.has(each) && !figures.test(each))).toEqual([]);
    const known = new Set([...live, ...catalogued]);
    expect([...documented].filter((each) => !known.has(each) && !each.includes('…') && !/open_fds/.test(each))).toEqual(
      [],
    );
  });

  test('has the labels of the metrics of requests and connections', () => {
    const documented = new Map<string, readonly string[]>();
    let labels: readonly string[] = [];
    for (const [name = '', , cell = ''] of table(section(page, 'Metrics'))) {
      if (cell !== 'the same') labels = cell.split(', ').filter((label) => label !== '');
      documented.set(name, labels);
    }
    const shown = Object.values(trafficMetrics).map(({ name }) => [name, sorted(documented.get(METRIC_PREFIX + name))]);
    expect(shown).toEqual(Object.values(trafficMetrics).map(({ name, labels: known }) => [name, sorted(known)]));
  });

  test('has the fields of the access log in their order', () => {
    const lines: string[] = [];
    const log = new AccessLog({ format: 'json', write: (line) => lines.push(line) });
    log.setLevel({ info: true, debug: true });
    const full = { connectionId: 1, requestId: 'a', gateway: 'a/b', listener: 'l', routeRule: 'r', route: 'a/r' };
    const ends = { endpoint: '1:1', sourceAddress: '1:1', sourceIdentity: 'i' };
    const http = { method: 'GET', path: '/', version: 'HTTP/1.1', status: 200, grpcStatus: 1, protocol: 'http' };
    const rest = {
      traceId: 't',
      spanId: 's',
      jwtSubject: 'j',
      retryAttempt: 1,
      error: 'e',
      reason: 'Timeout',
      durationMs: 1,
    } as const;
    log.write({ ...full, ...ends, ...http, ...rest, host: 'h' });
    log.write({ ...full, ...ends, ...http, ...rest, tlsSni: 'sni' });
    const [withHost = [], withSni = []] = lines.map((line) => Object.keys(JSON.parse(line)).slice(3));
    const documented = table(section(page, 'Access log')).map(([field = '']) => field);
    expect(documented.filter((field) => field !== 'tls.sni')).toEqual(withHost);
    expect(documented.filter((field) => field !== 'http.host')).toEqual(withSni);
  });

  test('names the levels and scopes of the log', () => {
    const named = codeSpans(section(page, 'Log'));
    expect(named).toEqual(expect.arrayContaining([...logLevels, 'gateway', 'admin', 'listener', 'engine', 'request']));
  });
});

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function sorted(labels: readonly string[] = []): readonly string[] {
  return labels.toSorted();
}
