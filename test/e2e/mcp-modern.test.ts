/** Every feature of the modern versions, directly and through the gateway, and every mixture of generations, with the same outcome. */
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { type RunningServer, startEverything } from '../mcp/everything.ts';
import { startModern } from '../mcp/modern-server.ts';
import { Cleanup, type RunningGateway, startGateway } from './gateway.ts';
import { CAPABILITIES, hearNew, type Transcript, walkCalls, type Ways } from './mcp-features.ts';
import { attentive, walkModern } from './mcp-modern-features.ts';

const MODERN = join(import.meta.dirname, '../mcp/modern-server.ts');
const EVERYTHING = join(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);
/** Of the target whose names have a prefix. */
const NAME = 'zz9';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Where the gateway has what; ports beside them give every name a prefix. */
const ports = { alone: 80, both: 81, program: 82, oldProgram: 83, streamable: 84, sse: 85, mixed: 86, stateless: 87 };
type Place = keyof typeof ports;
const PREFIXED = 10;

let servers: Record<'alone' | 'both' | 'streamable' | 'sse', RunningServer>;
let gateway: RunningGateway;
beforeAll(async () => {
  const [alone, both, streamable, sse] = await Promise.all([
    startModern(),
    startModern('stateless'),
    startEverything(),
    startEverything('sse'),
  ]);
  servers = { alone, both, streamable, sse };
  const http = ({ url }: RunningServer): string => `mcp: {host: "${url}"}`;
  const program = (...args: string[]): string =>
    `stdio: {cmd: "${process.execPath}", args: [${args.map((arg) => `"${arg}"`).join(', ')}]}`;
  const targets: [number, string][] = [
    [ports.alone, http(alone)],
    [ports.both, http(both)],
    [ports.program, program(MODERN)],
    [ports.oldProgram, program(EVERYTHING, 'stdio')],
    [ports.streamable, http(streamable)],
    [ports.sse, `sse: {host: "${sse.url}"}`],
  ];
  const bind = (port: number, mode: string, all: string): string =>
    `- {port: ${port}, listeners: [{routes: [{name: r${port}, backends: [{mcp: {prefixMode: ${mode}, targets: [${all}]}}]}]}]}`;
  const binds = targets.flatMap(([port, target]) => [
    bind(port, 'conditional', `{name: ${NAME}, ${target}}`),
    bind(port + PREFIXED, 'always', `{name: ${NAME}, ${target}}`),
  ]);
  binds.push(bind(ports.mixed, 'conditional', `{name: new, ${http(alone)}}, {name: old, ${http(streamable)}}`));
  const lone = `{mcp: {statefulMode: stateless, targets: [{name: new, ${http(alone)}}]}}`;
  binds.push(`- {port: ${ports.stateless}, listeners: [{routes: [{name: stateless, backends: [${lone}]}]}]}`);
  gateway = await startGateway(`binds:\n${binds.join('\n')}`, { threads: 2 });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

const plain: Ways = { named: (name) => name, at: (uri) => uri };
const by = (target: string): Ways => ({ named: (name) => `${target}_${name}`, at: (uri) => `${target}+${uri}` });

/** What a server is asked that begins anew with each request. */
const BRIEF = ['tools', 'read', 'complete', 'echo', 'ask-thrice', 'no tool', 'steps', 'cancelled', 'log'];

function transportOf(place: Place, prefix: number): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port(ports[place] + prefix)}/mcp`));
}

/** With the server of the modern versions: through the gateway, or, without a prefix, at the server itself. */
async function walked(
  place: Place,
  mode: 'legacy' | 'auto' | 'modern',
  { ways = plain, prefix = 0, direct = false, older = false, only }: Partial<Walk> = {},
): Promise<Transcript> {
  const from = attentive(mode);
  cleanup.add(from.client);
  const itself =
    place === 'program'
      ? new StdioClientTransport({ command: process.execPath, args: [MODERN], stderr: 'ignore' })
      : new StreamableHTTPClientTransport(new URL(place === 'both' ? servers.both.url : servers.alone.url));
  const sse = new SSEClientTransport(new URL(`http://127.0.0.1:${gateway.port(ports[place])}/sse`));
  await from.client.connect(direct ? itself : older ? sse : transportOf(place, prefix));
  return settled(await walkModern(from, ways, only));
}

interface Walk {
  readonly ways: Ways;
  readonly prefix: number;
  readonly direct: boolean;
  /** Over the older transport. */
  readonly older: boolean;
  readonly only: readonly string[] | undefined;
}

/** With the reference server, which speaks the older versions. */
async function walkedOld(
  place: Place | null,
  mode: 'legacy' | 'modern',
  ways = plain,
  prefix = 0,
): Promise<Transcript> {
  const pin = mode === 'modern' ? { pin: '2026-07-28' } : mode;
  const client = cleanup.add(
    new Client({ name: 'test', version: '1' }, { capabilities: CAPABILITIES, versionNegotiation: { mode: pin } }),
  );
  const all = hearNew(client);
  const itself = new StreamableHTTPClientTransport(new URL(servers.streamable.url));
  await client.connect(place === null ? itself : transportOf(place, prefix));
  return settled(await walkCalls(client, all, ways));
}

/** Without prefixes, and without hints for caches: through the gateway they say that there is nothing to keep. */
function settled(said: Transcript): Transcript {
  const text = JSON.stringify(said)
    .replaceAll(/\b(?:zz9|new|old)[_+]/g, '')
    .replaceAll(/\\"(progressToken|elicitationId)\\":(?:\d+|\\"[^"]*\\"),?/g, '')
    .replaceAll(/"ttlMs":\d+,"cacheScope":"\w+"/g, '"ttlMs":0,"cacheScope":"private"')
    .replaceAll(/"cacheScope":"\w+","ttlMs":\d+/g, '"cacheScope":"private","ttlMs":0')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\d{1,2}:\d\d:\d\d(?:\s[AP]M)?/g, '<time>')
    .replaceAll(/"blob":"[^"]*"/g, '"blob":"<blob>"');
  return JSON.parse(text) as Transcript; // what was written
}

/** Results with what all generations have. */
function common(said: Transcript, ...without: readonly string[]): Transcript {
  const kept = Object.fromEntries(Object.entries(said).filter(([what]) => !without.includes(what)));
  return JSON.parse(
    JSON.stringify(kept, (key, value: unknown) =>
      key === 'ttlMs' || key === 'cacheScope' || key === 'io.modelcontextprotocol/serverInfo' ? undefined : value,
    ).replaceAll('"_meta":{},', ''),
  ) as Transcript; // what was written
}

describe.each(['alone', 'both'] as const)('at a modern server over HTTP (%s)', (place) => {
  test('a modern client meets the same through the gateway, under names with and without prefixes', async () => {
    const [direct, same, renamed, auto] = await Promise.all([
      walked(place, 'modern', { direct: true }),
      walked(place, 'modern'),
      walked(place, 'modern', { ways: by(NAME), prefix: PREFIXED }),
      walked(place, 'auto'),
    ]);
    expect(same).toEqual(direct);
    expect(renamed).toEqual(direct);
    expect(auto).toEqual(direct);
  });
});

test('a legacy client meets the same at a server that is modern alone', async () => {
  const [direct, through, older, renamed] = await Promise.all([
    walked('alone', 'modern', { direct: true }),
    walked('alone', 'legacy'),
    walked('alone', 'legacy', { older: true }),
    walked('alone', 'legacy', { ways: by(NAME), prefix: PREFIXED }),
  ]);
  expect(common(through)).toEqual(common(direct));
  expect(common(older)).toEqual(common(direct));
  expect(common(renamed)).toEqual(common(direct));
});

test('without sessions a legacy client meets the same but for questions', async () => {
  const only = ['tools', 'read', 'read nothing', 'prompt', 'complete', 'echo', 'meta', 'refuse', 'headers', 'steps'];
  const [direct, through] = await Promise.all([
    walked('alone', 'modern', { direct: true, only }),
    walked('stateless', 'legacy', { only: [...only, 'ask', 'again'] }),
  ]);
  const { ask, again, ...same } = common(through, 'asked');
  expect(same).toEqual(common(direct, 'asked'));
  expect(again).toMatchObject({ content: [{ text: 'round 1' }] });
  expect(ask).toMatchObject({ failed: {} });
});

test('a legacy client meets the same at a program of both generations', async () => {
  const [direct, through, renamed] = await Promise.all([
    walked('program', 'legacy', { direct: true }),
    walked('program', 'legacy'),
    walked('program', 'legacy', { ways: by(NAME), prefix: PREFIXED }),
  ]);
  expect(through).toEqual(direct);
  expect(renamed).toEqual(direct);
});

test('a modern client meets the same at a program, which it has for each request', async () => {
  const [direct, through] = await Promise.all([
    walked('program', 'modern', { direct: true, only: BRIEF }),
    walked('program', 'modern', { only: BRIEF }),
  ]);
  expect(through).toEqual(direct);
});

/** There is no session on which the server could ask, and it offers no tools that would. */
const SESSION_ONLY = [
  'a bad cursor',
  'capabilities',
  'ping',
  'tools',
  'roots',
  'sampling',
  'elicitation',
  'elicitation by address',
  'elicitation by error',
  'asked',
];

test.each(['streamable', 'sse', 'oldProgram'] as const)(
  'a modern client meets the same at a legacy server (%s)',
  async (place) => {
    const [direct, through] = await Promise.all([walkedOld(null, 'legacy'), walkedOld(place, 'modern')]);
    // A program is started for each request, which takes its time.
    const renamed = place === 'oldProgram' ? through : await walkedOld(place, 'modern', by(NAME), PREFIXED);
    expect(common(through, ...SESSION_ONLY)).toEqual(common(direct, ...SESSION_ONLY));
    expect(common(renamed, ...SESSION_ONLY)).toEqual(common(direct, ...SESSION_ONLY));
  },
);

/** What several servers have in common. */
const MERGED = ['capabilities', 'instructions', 'server', 'tools', 'prompts', 'resources', 'templates', 'a bad cursor'];

describe('at a legacy and a modern server as one', () => {
  test.each(['legacy', 'modern'] as const)('a %s client meets both as they are alone', async (mode) => {
    const [alone, modern, everything, old] = await Promise.all([
      walked('alone', mode),
      walked('mixed', mode, { ways: by('new') }),
      walkedOld('streamable', mode),
      walkedOld('mixed', mode, by('old')),
    ]);
    expect(common(modern, ...MERGED)).toEqual(common(alone, ...MERGED));
    expect(common(old, ...MERGED)).toEqual(common(everything, ...MERGED));
  });
});
