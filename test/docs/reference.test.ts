import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';

import { A2aFacts } from '../../proxy/exchange/a2a-facts.ts';
import { LlmFacts } from '../../proxy/exchange/llm-facts.ts';
import { McpFacts } from '../../proxy/exchange/mcp-facts.ts';
import { AccessLog } from '../../proxy/telemetry/access-log.ts';
import { METRIC_PREFIX, trafficMetrics } from '../../proxy/telemetry/metric-catalog.ts';
import { logLevels } from '../../src/shared/log.ts';
import { ask, Cleanup, startGateway } from '../e2e/gateway.ts';
import { blocks, codeSpans, read, root, section, table } from './markdown.ts';
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

  test('names every key that has an effect, or the page of a policy does', () => {
    const files = readdirSync(join(root, 'docs/policies'));
    const policyPages = files.map((name) => read(`docs/policies/${name}`));
    const named = new Set([
      ...files.map((name) => name.replace(/\.md$/, '')),
      ...[page, ...policyPages].flatMap((text) => codeSpans(text).flatMap((span) => span.split(/[^\w]+/))),
      ...blocks(page).flatMap(({ text }) => [...text.matchAll(/[A-Za-z]\w*/g)].map(([word]) => word)),
    ]);
    expect([...keys.built].filter((key) => !named.has(key))).toEqual([]);
  });

  test('lists what is refused as not built, and no more', () => {
    const heading = '## Refused as not built yet\n';
    const before = page.slice(0, page.indexOf(heading) + heading.length);
    const text = `${before}\n${refusedList([...keys.refused])}`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(join(root, 'docs/configuration.md'), text);
    expect(read('docs/configuration.md')).toBe(text);
  });

  test('names the environment variables that are read', () => {
    const named = codeSpans(section(page, 'The process')).filter((span) => /^[A-Z][A-Z0-9_]+$/.test(span));
    const sources = ['process', 'telemetry-resource', 'credential-environment'].map((name) =>
      read(`src/config/normalize/${name}.ts`),
    );
    const quoted = sources.flatMap((source) => [...source.matchAll(/'([A-Z][A-Z0-9_]{3,})'/g)].map(([, name]) => name));
    const otlp = ['ENDPOINT', 'PROTOCOL', 'HEADERS'].flatMap((what) =>
      ['OTLP', 'OTEL_EXPORTER_OTLP_TRACES', 'OTEL_EXPORTER_OTLP'].map((prefix) => `${prefix}_${what}`),
    );
    // Codes of errors begin like the gateway's own variables.
    const own = [...read('src/config/normalize/ai-backend.ts').matchAll(/env\['(GW_[A-Z_]+)'\]/g)].map(
      ([, name]) => name,
    );
    const used = [...[...quoted, ...otlp].filter((name) => name?.startsWith('GW_') === false), ...own];
    expect([...new Set(named)].toSorted()).toEqual([...new Set(used)].toSorted());
  });
});

/** The section of the page: what its error says, sorted by kind. */
function refusedList(refused: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const what of refused) {
    const [, kind = '', name = ''] = /^(?:the (.+) )?(`[^`]+`)$/.exec(what) ?? [];
    const group = name.startsWith('`config.') ? 'process' : name === '' ? '' : kind;
    groups.set(group, [...(groups.get(group) ?? []), name === '' ? what : name]);
  }
  const lines = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([group, names]) => [
      '',
      ...wrapped(`${TITLES[group] ?? `${capital(group)}s`}: ${names.toSorted().join(', ')}.`),
    ]);
  return [
    'The schema knows these, and loading refuses them with an error that says so. They become available without a change of their form.',
    ...lines,
    '',
  ].join('\n');
}

const TITLES: Readonly<Record<string, string>> = {
  '': 'Also',
  process: 'Process, meshes and control planes',
  policy: 'Policies',
};

function capital(text: string): string {
  return text === '' ? 'Key' : `${text[0]?.toUpperCase()}${text.slice(1)}`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 150) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

describe('docs/troubleshooting.md', () => {
  const rows = table(section(read('docs/troubleshooting.md'), 'Why was it refused?'));

  test('has every reason of a refusal', () => {
    const [, union = ''] = /export type Reason =([^;]*);/.exec(read('proxy/exchange/refusal.ts')) ?? [];
    const reasons = [...union.matchAll(/'(\w+)'/g)].map(([, reason]) => reason);
    expect(reasons.length).toBeGreaterThan(10);
    expect(rows.map(([reason]) => reason)).toEqual(reasons.toSorted());
  });

  test('has the statuses that the code gives with each', () => {
    const given = sources('proxy').flatMap((source) =>
      [...source.matchAll(/\brefuse\(\s*(\d{3}),\s*'(\w+)'/g)].map(([, status, reason]) => `${reason} ${status}`),
    );
    const listed = rows.flatMap(([reason, statuses = '']) =>
      [...statuses.matchAll(/\d{3}/g)].map(([status]) => `${reason} ${status}`),
    );
    expect(given.length).toBeGreaterThan(20);
    expect([...new Set(given)].filter((each) => !listed.includes(each))).toEqual([]);
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
    const every = { llm: everythingOfModels(), a2a: everythingOfAgents(), mcp: everythingOfServers('tool') };
    log.write({ ...full, ...ends, ...http, ...rest, ...every, host: 'h' });
    log.write({ ...full, ...ends, ...http, ...rest, ...every, tlsSni: 'sni' });
    for (const kind of ['resource', 'prompt'] as const)
      log.write({ ...full, ...ends, ...http, ...rest, mcp: everythingOfServers(kind) });
    const [withHost = [], withSni = [], ofResource = [], ofPrompt = []] = lines.map((line) =>
      Object.keys(JSON.parse(line)).slice(3),
    );
    const documented = table(section(page, 'Access log')).map(([field = '']) => field);
    // A message is about one item.
    const ofTool = documented.filter((field) => field !== 'mcp.resource.uri' && field !== 'gen_ai.prompt.name');
    expect(ofTool.filter((field) => field !== 'tls.sni')).toEqual(withHost);
    expect(ofTool.filter((field) => field !== 'http.host')).toEqual(withSni);
    expect(documented.filter((field) => ofResource.includes(field))).toEqual(ofResource);
    expect(ofResource).toContain('mcp.resource.uri');
    expect(documented.filter((field) => ofPrompt.includes(field))).toEqual(ofPrompt);
    expect(ofPrompt).toContain('gen_ai.prompt.name');
  });

  test('names the levels and scopes of the log', () => {
    const named = codeSpans(section(page, 'Log'));
    expect(named).toEqual(expect.arrayContaining([...logLevels, 'gateway', 'admin', 'listener', 'engine', 'request']));
  });
});

function everythingOfAgents(): A2aFacts {
  const facts = new A2aFacts('message/send', 'jsonRpc');
  return Object.assign(facts, {
    outcome: 'error',
    errorCode: 1,
    resultKind: 'task',
    taskState: 'failed',
    contextId: 'c',
  } as const);
}

function everythingOfServers(kind: 'tool' | 'prompt' | 'resource'): McpFacts {
  return Object.assign(new McpFacts(), {
    methodName: 'm',
    sessionId: 's',
    item: { kind, name: 'n', target: 't' },
    error: { code: 1, message: 'no' },
  });
}

function everythingOfModels(): LlmFacts {
  const part = { input: 1n, output: 1n, cacheRead: 1n, cacheWrite: 1n, reasoning: 1n, inputAudio: 1n, outputAudio: 1n };
  const input = { inputTokens: 1, cachedInputTokens: 1, cacheCreationInputTokens: 1, inputAudioTokens: 1 };
  const output = { outputTokens: 1, reasoningTokens: 1, outputImageTokens: 1, outputAudioTokens: 1 };
  const sampling = { temperature: 1, topP: 1, frequencyPenalty: 1, presencePenalty: 1, seed: 1 };
  return Object.assign(new LlmFacts(), {
    provider: 'p',
    requestModel: 'm',
    responseModel: 'm',
    usage: { ...input, ...output },
    timeToFirstTokenMs: 1,
    timePerOutputTokenMs: 1,
    estimated: true,
    cost: { total: 7n, ...part },
    params: { ...sampling, maxTokens: 1, encodingFormat: 'float', dimensions: 1 },
  });
}

function sources(folder: string): readonly string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => read(`${folder}/${file}`));
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function sorted(labels: readonly string[] = []): readonly string[] {
  return labels.toSorted();
}
