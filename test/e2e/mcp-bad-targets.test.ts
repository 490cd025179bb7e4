/** What servers of MCP get wrong, over each transport: clients get an answer, and the next call is served. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { begin, call, type Message, post, type Told } from './mcp-raw.ts';
import { FLOOD, startWild, TOOLS, type WildServer } from './mcp-wild.ts';
import { nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PROGRAM = `${import.meta.dirname}/mcp-wild-program.ts`;
const TRANSPORTS = ['http', 'sse', 'stdio'] as const;
type Transport = (typeof TRANSPORTS)[number];

let server: WildServer;
let gateway: RunningGateway;
beforeAll(async () => {
  server = await startWild();
  const binds = TRANSPORTS.flatMap((transport, at) => [
    bind(80 + at, target(transport)),
    bind(90 + at, target(transport, true)),
    bind(100 + at, `${target('http')}, ${target(transport, false, 'b')}`),
  ]);
  binds.push(...TRANSPORTS.map((transport, at) => hurrying(110 + at, transport)));
  const named = TRANSPORTS.map((transport) => `- {name: ${transport}, mcp: {targets: [${target(transport)}]}}`);
  gateway = await startGateway(`binds:\n${binds.join('\n')}\nbackends:\n${named.join('\n')}`, { threads: 2 });
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

function target(transport: Transport, paged = false, name = 'a'): string {
  const at = `http://127.0.0.1:${server.port}`;
  const tail = paged ? '?paged' : '';
  if (transport === 'stdio')
    return `{name: ${name}, stdio: {cmd: "${process.execPath}", args: ["${PROGRAM}"${paged ? ', paged' : ''}]}}`;
  return `{name: ${name}, ${transport === 'http' ? 'mcp' : 'sse'}: {host: "${at}/${transport === 'http' ? 'mcp' : 'sse'}${tail}"}}`;
}

function bind(port: number, targets: string): string {
  return `- {port: ${port}, listeners: [{routes: [{name: r${port}, backends: [{mcp: {targets: [${targets}]}}]}]}]}`;
}

/** What does not hurry has time to start a program. */
const HURRY = { hurry: 'yes' };

function hurrying(port: number, backend: string): string {
  const matches = 'matches: [{path: {pathPrefix: /}, headers: [{name: hurry, value: {exact: "yes"}}]}]';
  const hurried = `{name: hurried, ${matches}, policies: {timeout: {requestTimeout: 300ms}}, backends: [{backend: ${backend}}]}`;
  return `- {port: ${port}, listeners: [{routes: [${hurried}, {name: calm, backends: [{backend: ${backend}}]}]}]}`;
}

const portOf = (transport: Transport, base = 80): number => gateway.port(base + TRANSPORTS.indexOf(transport));
const last = ({ messages }: Told): Message | undefined => messages.at(-1);
const textOf = (told: Told): unknown => {
  const content = last(told)?.result?.['content'] as readonly { readonly text?: string }[] | undefined; // of the wild server
  return content?.[0]?.text;
};

/** One server that a program or a stream has died of is asked again as clients do. */
async function stillServes(port: number, session: Readonly<Record<string, string>>): Promise<void> {
  let current = session;
  await eventually('the next call is served', async () => {
    const told = await post(port, call('echo', { still: 'here' }), current);
    if (told.status === 404) current = await begin(port);
    return textOf(told) === '{"still":"here"}';
  });
}

test('an OpenAPI document with cycles is tools all the same', async () => {
  const node = {
    type: 'object',
    properties: {
      next: { $ref: '#/components/schemas/Node' },
      children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Cycles', version: '1' },
    paths: {
      '/nodes': {
        post: {
          operationId: 'addNode',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
          responses: {},
        },
      },
    },
    components: {
      schemas: {
        Node: node,
        Tree: { allOf: [{ $ref: '#/components/schemas/Node' }, { $ref: '#/components/schemas/Leaf' }] },
        Leaf: { oneOf: [{ $ref: '#/components/schemas/Tree' }, { type: 'null' }] },
      },
    },
  };
  const behind = cleanup.add(await upstream(echo));
  const openapi = {
    host: '127.0.0.1',
    port: behind.port,
    path: '/',
    schema: JSON.stringify(document).replaceAll('$', '$$$$'),
  };
  const own = cleanup.add(await startGateway(`binds:\n${bind(80, JSON.stringify({ name: 'a', openapi }))}`));
  const session = await begin(own.port(80));
  const listed = last(await post(own.port(80), { id: 1, method: 'tools/list' }, session))?.result?.['tools'];
  expect(listed).toMatchObject([{ name: 'addNode', inputSchema: { type: 'object', properties: { body: {} } } }]);
  const added = await post(own.port(80), call('addNode', { body: { next: { next: {} } } }), session);
  expect(last(added)?.result).toMatchObject({ structuredContent: { method: 'POST', url: '/nodes' } });
});

describe.each(TRANSPORTS)('over %s a server that', (transport) => {
  test.each<[string, string | RegExp]>([
    ['answer-twice', 'first'],
    ['answer-others', 'mine'],
    ['surrogate', '\ud800 \u0000 end'],
    ['prototype', /^undefined$/],
    // As readers of text do: the message is whole but for these bytes.
    ['not-utf8', '\ufffd'],
  ])('does this in its answer is understood: %s', async (tool, expected) => {
    const port = portOf(transport);
    const session = await begin(port);
    const told = await post(port, call(tool), session);
    expect([told.status, last(told)?.id]).toEqual([200, 'call']);
    expect(String(textOf(told))).toMatch(expected);
    await stillServes(port, session);
  });

  test.each(['die', 'die-in-the-middle', 'deep', 'huge', 'no-json', 'no-message', 'wrong-kind'])(
    'does this instead of an answer fails the call alone: %s',
    async (tool) => {
      const port = portOf(transport, 110);
      const session = await begin(port);
      const told = await post(port, call(tool), { ...session, ...HURRY });
      expect(last(told)).toMatchObject({ jsonrpc: '2.0', id: 'call', error: { message: expect.any(String) } });
      expect(last(told)?.error?.code).toBeLessThan(0);
      await stillServes(port, session);
    },
  );

  test('never answers keeps nobody waiting for longer than is allowed', async () => {
    const port = portOf(transport, 110);
    const session = await begin(port);
    const told = await post(port, call('never'), { ...session, ...HURRY });
    expect([told.status, told.headers['x-gw-reason']]).toEqual([504, 'Timeout']);
    expect(last(told)).toMatchObject({ id: 'call', error: { code: -32603 } });
    await stillServes(port, session);
  });

  test('says too much is heard to its end', async () => {
    const port = portOf(transport);
    const told = await post(port, call('flood'), await begin(port));
    const progress = told.messages.flatMap(({ params }) => params?.['progress'] ?? []);
    expect([progress.length, progress.at(-1)]).toEqual([FLOOD, FLOOD]);
    expect(textOf(told)).toBe('after the flood');
  });

  test('has ten thousand tools shows them on one page, or on its own', async () => {
    const whole = await tools(portOf(transport), '');
    expect(whole).toEqual({ pages: 1, names: names('') });
    const paged = await tools(portOf(transport, 90), '');
    expect(paged).toEqual({ pages: 20, names: names('') });
  });

  test('has ten thousand tools is one of several', async () => {
    const { names: all } = await tools(portOf(transport, 100), '');
    expect(all).toEqual([...names('a_'), ...names('b_')]);
  });
});

const names = (prefix: string): string[] => Array.from({ length: TOOLS }, (_, at) => `${prefix}tool-${at}`);

async function tools(port: number, cursor: string): Promise<{ readonly pages: number; readonly names: string[] }> {
  const session = await begin(port);
  const found: string[] = [];
  for (let pages = 1; ; pages++) {
    const params = cursor === '' ? {} : { cursor };
    const result = last(await post(port, { id: pages, method: 'tools/list', params }, session))?.result;
    const listed = (result?.['tools'] ?? []) as { readonly name: string }[]; // of the wild server
    for (const { name } of listed) found.push(name);
    if (typeof result?.['nextCursor'] !== 'string') return { pages, names: found };
    cursor = result['nextCursor'];
  }
}

test('clients that leave a flood leave nothing behind', async () => {
  for (const transport of TRANSPORTS) {
    const port = portOf(transport);
    const session = await begin(port);
    const leaving = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...session },
      body: JSON.stringify({ jsonrpc: '2.0', ...call('flood') }),
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    leaving.abort();
    await stillServes(port, session);
  }
  await nothingLeft(gateway);
});
