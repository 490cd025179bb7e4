/** Ways around rules about items: what a server gets is what rules have allowed, whatever the client writes. */
import type { IncomingMessage, ServerResponse } from 'node:http';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { post, type Told } from './mcp-raw.ts';

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

interface Got {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** What reached the server besides handshakes. */
const got: { readonly message: Got; readonly headers: IncomingMessage['headers'] }[] = [];
const names = ['open', 'secret'];

/** A server that has everything twice, and looks at nothing. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    const message = JSON.parse(body === '' ? '{}' : body) as Got; // of the gateway
    if (message.id === undefined) return void response.writeHead(request.method === 'GET' ? 405 : 202).end();
    if (message.method !== 'initialize') got.push({ message, headers: request.headers });
    response.setHeader('content-type', 'application/json');
    return void response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message.method) }));
  });
}

function resultOf(method: string | undefined): object {
  if (method === 'initialize')
    return { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } };
  if (method === 'tools/list') return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) };
  if (method === 'resources/list') return { resources: names.map((name) => ({ name, uri: `file:///${name}/a` })) };
  return { content: [], messages: [], contents: [], completion: { values: [] } };
}

let gateway: RunningGateway;
let config: (who: string) => string;
beforeAll(async () => {
  const server = cleanup.add(await upstream(serve));
  const target = (name: string): string => `{name: ${name}, mcp: {host: "http://127.0.0.1:${server.port}/mcp"}}`;
  const rule = (who: string): string =>
    [
      'mcp.tool.name == "open"',
      'mcp.prompt.name == "open"',
      'mcp.task.name == "open"',
      'mcp.resource.name.startsWith("file:///open/")',
      `has(apiKey.boss) && ${who}`,
    ]
      .map((expression) => `'${expression}'`)
      .join(', ');
  config = (who) => {
    const keys = 'apiKey: {mode: optional, keys: [{key: k-boss, metadata: {boss: true}}, {key: k-other}]}';
    const policies = `{${keys}, mcpAuthorization: {rules: [${rule(who)}]}}`;
    const route = (path: string, targets: string, more = ''): string =>
      `{matches: [{path: {pathPrefix: ${path}}}], policies: ${policies}, backends: [{mcp: {${more}targets: [${targets}]}}]}`;
    const two = `${target('a')}, ${target('b')}`;
    const routes = [
      route('/one', target('a')),
      route('/two', two),
      route('/always', target('a'), 'prefixMode: always, '),
    ];
    return `binds:\n- {port: 80, listeners: [{routes: [${routes.join(', ')}]}]}`;
  };
  gateway = cleanup.add(await startGateway(config('true'), { threads: 2 }));
});
beforeEach(() => {
  got.length = 0;
});

const PLACES = [
  ['one', ''],
  ['two', 'a_'],
  ['always', 'a_'],
] as const;

async function say(place: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<Told> {
  const session = await begun(place);
  return post(gateway.port(80), `{"jsonrpc":"2.0",${body}}`, { ...session, ...headers }, `/${place}`);
}

async function begun(place: string, headers: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
  const hello = {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  };
  const told = await post(gateway.port(80), hello, headers, `/${place}`);
  return { 'mcp-session-id': String(told.headers['mcp-session-id']), ...headers };
}

/** By what the server could take for one. */
const named = (): string => JSON.stringify(got.map(({ message, headers }) => [message, headers['mcp-name']]));

describe.each(PLACES)('at /%s', (place, prefix) => {
  const uri = (rest: string): string => (prefix === '' ? rest : `a+${rest}`);
  const ask = (method: string, params: string): string => `"id":1,"method":"${method}","params":${params}`;

  test.each<[string, string]>([
    ['a tool', ask('tools/call', `{"name":"${prefix}secret"}`)],
    ['a name twice', ask('tools/call', `{"name":"${prefix}open","name":"${prefix}secret"}`)],
    [
      'parameters twice',
      `"id":1,"method":"tools/call","params":{"name":"${prefix}open"},"params":{"name":"${prefix}secret"}`,
    ],
    ['a method twice', `"id":1,"method":"ping","method":"tools/call","params":{"name":"${prefix}secret"}`],
    ['an escaped name', ask('tools/call', `{"name":"${prefix}secre\\u0074"}`)],
    ['an escaped key', ask('tools/call', `{"name":"${prefix}open","nam\\u0065":"${prefix}secret"}`)],
    ['a prompt', ask('prompts/get', `{"name":"${prefix}secret"}`)],
    ['a resource', ask('resources/read', `{"uri":"${uri('file:///secret/a')}"}`)],
    ['a resource on a way round', ask('resources/read', `{"uri":"${uri('file:///open/../secret/a')}"}`)],
    ['a resource on an escaped way', ask('resources/read', `{"uri":"${uri('file:///open/%2e%2e%2fsecret/a')}"}`)],
    ['a subscription', ask('resources/subscribe', `{"uri":"${uri('file:///open/../secret/a')}"}`)],
    ['the end of a subscription', ask('resources/unsubscribe', `{"uri":"${uri('file:///secret/a')}"}`)],
    [
      'a subscription of the newest version',
      ask('subscriptions/listen', `{"notifications":{"resourceSubscriptions":["${uri('file:///secret/a')}"]}}`),
    ],
    [
      'a completion',
      ask('completion/complete', `{"ref":{"type":"ref/prompt","name":"${prefix}secret"},"argument":{}}`),
    ],
    [
      'a completion with both',
      ask('completion/complete', `{"ref":{"type":"ref/x","uri":"${uri('file:///open/a')}","name":"secret"}}`),
    ],
    ['a task', ask('tasks/get', `{"taskId":"${prefix === '' ? '' : 'a+'}secret"}`)],
    ['the result of a task', ask('tasks/result', `{"taskId":"${prefix === '' ? '' : 'a+'}secret"}`)],
    ['a method that nobody knows', ask('tools/call2', `{"name":"${prefix}secret"}`)],
  ])('%s is not reached', async (_what, body) => {
    const told = await say(place, body);
    expect(told.messages.at(-1)?.error?.code ?? told.status).toBeLessThan(0);
    expect(named()).not.toContain('secret');
  });

  test('a header cannot say something else than the message', async () => {
    const body = ask('tools/call', `{"name":"${prefix}open"}`);
    expect((await say(place, body, { 'mcp-name': `${prefix}secret` })).status).toBe(400);
    expect(got).toEqual([]);
    expect((await say(place, body, { 'mcp-name': `${prefix}open` })).status).toBe(200);
    expect(named()).not.toContain('secret');
  });

  test('the last of two names is the one that is asked about and the one that is called', async () => {
    await say(place, ask('tools/call', `{"name":"${prefix}secret","name":"${prefix}open"}`));
    expect(got.map(({ message }) => message.params?.['name'])).toEqual(['open']);
    expect(named()).not.toContain('secret');
  });

  test('batches are refused as a whole', async () => {
    const session = await begun(place);
    const batch = `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${prefix}secret"}}]`;
    expect((await post(gateway.port(80), batch, session, `/${place}`)).status).toBe(400);
    expect(got).toEqual([]);
  });

  test('lists are those of each caller, also after rules have changed', async () => {
    const listed = async (session: Readonly<Record<string, string>>, method: string): Promise<number> => {
      const told = await post(gateway.port(80), { id: 1, method, params: {} }, session, `/${place}`);
      const { tools, resources } = told.messages.at(-1)?.result ?? {};
      return ((tools ?? resources) as readonly unknown[]).length; // of the server here
    };
    const targets = place === 'two' ? 2 : 1;
    const boss = await begun(place, { authorization: 'Bearer k-boss' });
    const other = await begun(place, { authorization: 'Bearer k-other' });
    for (const method of ['tools/list', 'resources/list']) {
      expect(await listed(boss, method)).toBe(2 * targets);
      expect(await listed(other, method)).toBe(targets);
      expect(await listed(boss, method)).toBe(2 * targets);
    }
    const borrowed = { ...boss, authorization: 'Bearer k-other' };
    expect((await post(gateway.port(80), { id: 1, method: 'tools/list' }, borrowed, `/${place}`)).status).toBe(404);
    await gateway.reload(config('false'));
    expect(await listed(boss, 'tools/list')).toBe(targets);
    await gateway.reload(config('true'));
    expect(await listed(boss, 'tools/list')).toBe(2 * targets);
  });
});
