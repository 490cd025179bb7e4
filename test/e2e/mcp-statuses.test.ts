import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { serveExtMcp } from '../services/ext-mcp.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let server: RunningServer;
beforeAll(async () => {
  server = await startEverything();
});
afterAll(() => server.close());

type Gateway = Awaited<ReturnType<typeof serving>>;

async function serving(more = '', targets: readonly string[] = ['a']) {
  const listed = targets.map((name) => `{name: ${name}, mcp: {host: "${server.url}"}}`).join(', ');
  const running = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}\nmcp: {targets: [${listed}]${more}}\n`),
  );
  return { ...running, url: `http://127.0.0.1:${running.port(80)}/mcp` };
}

const BOTH = 'application/json, text/event-stream';
const MODERN = '2026-07-28';

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Told {
  readonly status: number;
  readonly type: string | null;
  readonly reason: string | null;
  readonly session: string | null;
  readonly text: string;
  /** The answer, from JSON or from the last event. */
  readonly message: { readonly id?: unknown; readonly result?: unknown; readonly error?: { readonly code: number } };
}

async function send({ url }: Pick<Gateway, 'url'>, { method = 'POST', headers = {}, body }: Sent): Promise<Told> {
  const own =
    method === 'POST' ? { accept: BOTH, 'content-type': 'application/json' } : { accept: 'text/event-stream' };
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers: { ...own, ...headers },
    ...(text === undefined ? {} : { body: text }),
  });
  const said = await response.text();
  const type = response.headers.get('content-type');
  const data = type === 'text/event-stream' ? said.trim().split('\n').at(-1)?.slice('data: '.length) : said;
  return {
    status: response.status,
    type,
    reason: response.headers.get('x-gw-reason'),
    session: response.headers.get('mcp-session-id'),
    text: said,
    message: type === 'text/plain' || data === undefined || data === '' ? {} : JSON.parse(data),
  };
}

const request = (method: string, params: object = {}, id: unknown = 7) => ({ jsonrpc: '2.0', id, method, params });

const INITIALIZE = request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

/** The header that carries a new session. */
async function session(gateway: Pick<Gateway, 'url'>): Promise<Record<string, string>> {
  const { session: id } = await send(gateway, { body: INITIALIZE });
  const headers = { 'mcp-session-id': id ?? '' };
  await send(gateway, { headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
  return headers;
}

/** A request of the modern version, with the headers that it has to have. */
function modern(method: string, params: object = {}, headers: Record<string, string> = {}): Sent {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    headers: { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...headers },
    body: request(method, { ...params, _meta }),
  };
}

const shape = ({ status, type, message }: Told) => [status, type, message.error?.code];

describe('before a message is understood', () => {
  const text = (status: number) => [status, 'text/plain', undefined];

  test.each<[string, number, Sent]>([
    ['a method that is none', 405, { method: 'PUT', body: '{}' }],
    ['a POST that takes no events', 406, { headers: { accept: 'application/json' }, body: INITIALIZE }],
    ['a POST that takes anything', 406, { headers: { accept: '*/*' }, body: INITIALIZE }],
    ['a GET that takes no events', 406, { method: 'GET', headers: { accept: 'application/json' } }],
    ['another content type', 415, { headers: { 'content-type': 'text/plain' }, body: INITIALIZE }],
    ['no JSON', 400, { body: '{' }],
    ['a batch', 400, { body: [INITIALIZE] }],
    ['a bad version header', 400, { headers: { 'mcp-protocol-version': 'é' }, body: INITIALIZE }],
    ['a GET of a modern client', 400, { method: 'GET', headers: { 'mcp-protocol-version': MODERN } }],
    ['a GET without a session', 400, { method: 'GET' }],
    ['a DELETE without a session', 400, { method: 'DELETE' }],
    ['a request without a session', 400, { body: request('tools/list') }],
    ['a notification without a session', 400, { body: { jsonrpc: '2.0', method: 'notifications/initialized' } }],
    ['a session id that is none', 400, { headers: { 'mcp-session-id': '!' }, body: request('tools/list') }],
    ['a stream of a session id that is none', 400, { method: 'GET', headers: { 'mcp-session-id': '!' } }],
    [
      'the modern version in the body alone',
      400,
      { body: request('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN } }) },
    ],
  ])('%s: %i, as text', async (_what, status, sent) => {
    const gateway = await serving();
    const told = await send(gateway, sent);
    expect(shape(told)).toEqual(text(status));
    expect(told.reason).toBe('MCP');
    await gateway.logged('reason=MCP', `http.status=${status}`);
  });

  test('a session of other servers is one that nobody knows', async () => {
    const one = await serving();
    const headers = await session(one);
    const other = await serving('', ['b']);
    expect(shape(await send(other, { headers, body: request('ping') }))).toEqual(text(404));
    expect(shape(await send(other, { method: 'GET', headers }))).toEqual(text(404));
    expect((await send(other, { method: 'DELETE', headers })).status).toBe(202);
    expect((await send(one, { method: 'DELETE', headers })).status).toBe(202);
  });

  test('without sessions there is neither a stream nor an end', async () => {
    const gateway = await serving(', statefulMode: stateless');
    for (const method of ['GET', 'DELETE']) expect(shape(await send(gateway, { method }))).toEqual(text(405));
    const told = await send(gateway, { body: request('tools/list') });
    expect([...shape(told), told.session]).toEqual([200, 'text/event-stream', undefined, null]);
  });
});

describe('a message that is understood, but not right', () => {
  const json = (status: number, code: number) => [status, 'application/json', code];

  test.each<[string, number, number, Sent]>([
    [
      'an unknown version',
      400,
      -32022,
      { headers: { 'mcp-protocol-version': '2020-01-01' }, body: request('tools/list') },
    ],
    [
      'a header of another version',
      400,
      -32020,
      { headers: { 'mcp-protocol-version': '2025-06-18' }, body: INITIALIZE },
    ],
    ['a method that is not the one of the header', 400, -32020, modern('tools/list', {}, { 'mcp-method': 'ping' })],
    [
      'a name that is not the one of the header',
      400,
      -32020,
      modern('tools/call', { name: 'echo' }, { 'mcp-name': 'x' }),
    ],
    ['a name without a header', 400, -32020, modern('tools/call', { name: 'echo' })],
    ['a method of older versions', 404, -32601, modern('ping')],
    ['a method that nobody knows', 404, -32601, modern('x/y')],
    ['a known method without a version', 400, -32602, { ...modern('tools/list'), body: request('tools/list') }],
    ['a call of no tool', 400, -32602, modern('tools/call')],
    ['a completion of nothing', 400, -32602, modern('completion/complete')],
    ['a subscription to nothing', 400, -32602, modern('subscriptions/listen')],
  ])('%s: %i and %i', async (_what, status, code, sent) => {
    const gateway = await serving();
    const told = await send(gateway, sent);
    expect(shape(told)).toEqual(json(status, code));
    expect([told.message.id, told.reason]).toEqual([7, 'MCP']);
    await gateway.logged('reason=MCP', `http.status=${status}`);
  });

  test.each<[string, number, number, object]>([
    ['tools/call', 400, -32602, {}],
    ['tools/call', 200, -32602, { name: 'echo' }],
    ['tools/call', 200, -32602, { name: 'c_echo' }],
    ['prompts/get', 200, -32602, { name: 'c_x' }],
    ['resources/read', 200, -32602, { uri: 'c+demo://x' }],
    ['tools/list', 200, -32602, { cursor: 'x' }],
    ['x/y', 200, -32601, {}],
  ])('%s to several servers: %i and %i for %j', async (method, status, code, params) => {
    const gateway = await serving('', ['a', 'b']);
    const told = await send(gateway, { headers: await session(gateway), body: request(method, params) });
    expect(shape(told)).toEqual(json(status, code));
    expect([told.message.id, told.reason]).toEqual([7, 'MCP']);
    await gateway.logged(`mcp.method.name=${method}`, 'reason=MCP', `mcp.error.code=${code}`);
  });

  test('what a server says of an unknown tool comes as it says it', async () => {
    const gateway = await serving();
    const told = await send(gateway, { headers: await session(gateway), body: request('x/y') });
    expect(shape(told)).toEqual([200, 'text/event-stream', -32601]);
    expect(told.reason).toBeNull();
  });
});

describe('what is refused before a server is asked', () => {
  const call = (name: string) => ({ body: request('tools/call', { name, arguments: { message: 'hi' } }) });

  test('by rules is JSON with status 200, and looks like what is not there', async () => {
    const policies = `policies: {mcpAuthorization: {rules: ['has(mcp.tool) && mcp.tool.name == "echo"']}}`;
    for (const mode of ['conditional', 'never']) {
      const gateway = await serving(`, prefixMode: ${mode}, ${policies}`, ['a']);
      const told = await send(gateway, { headers: await session(gateway), ...call('get-sum') });
      expect(shape(told)).toEqual([200, 'application/json', -32602]);
      expect(told.reason).toBe('Authorization');
      await gateway.logged('reason=Authorization', 'mcp.error.code=-32602', 'http.status=200');
      const several = await serving(`, prefixMode: ${mode}, ${policies}`, ['a', 'b']);
      const headers = await session(several);
      const [denied, missing] = [
        await send(several, { headers, ...call('a_get-sum') }),
        await send(several, { headers, ...call('c_x') }),
      ];
      expect([shape(denied), denied.reason]).toEqual([shape(missing), missing.reason]);
    }
  });

  test('by a processor is JSON with status 200; what it says of an answer is an event', async () => {
    const denial = { error: { code: 'PERMISSION_DENIED', reason: 'not today' } } as const;
    for (const phase of ['request', 'response']) {
      const { port } = cleanup.add(await serveExtMcp(({ kind }) => (kind === phase ? denial : { pass: {} })));
      const methods = `methods: {"tools/*": full}`;
      const policies = `policies: {mcpGuardrails: {processors: [{kind: remote, host: "127.0.0.1:${port}", ${methods}}]}}`;
      for (const targets of [['a'], ['a', 'b']]) {
        const gateway = await serving(`, ${policies}`, targets);
        const headers = await session(gateway);
        const type = phase === 'request' ? 'application/json' : 'text/event-stream';
        for (const sent of [call(targets.length === 1 ? 'echo' : 'a_echo'), { body: request('tools/list') }]) {
          const told = await send(gateway, { headers, ...sent });
          expect(shape(told)).toEqual([200, type, -32001]);
          expect(told.reason).toBe('Guardrail');
        }
        await gateway.logged('mcp.method.name=tools/list', 'reason=Guardrail', 'http.status=200');
      }
    }
  });
});

describe('ids', () => {
  test.each<[unknown]>([['text'], [''], [0], [-1], [9007199254740991]])('%j comes back as it was', async (id) => {
    const gateway = await serving();
    const headers = await session(gateway);
    const told = await send(gateway, {
      headers,
      body: request('tools/call', { name: 'echo', arguments: { message: 'hi' } }, id),
    });
    expect([told.status, told.message.id]).toEqual([200, id]);
    expect(told.message.result).toBeDefined();
  });

  test.each(['null', 'true', '{}', '[1]', '12345678901234567890', '1e400'])('%s is refused', async (id) => {
    const gateway = await serving();
    const body = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    expect(shape(await send(gateway, { headers: await session(gateway), body }))).toEqual([
      400,
      'text/plain',
      undefined,
    ]);
  });

  test('may be the same in several requests at once', async () => {
    const gateway = await serving('', ['a', 'b']);
    const headers = await session(gateway);
    const call = (text: string) =>
      send(gateway, { headers, body: request('tools/call', { name: 'a_echo', arguments: { message: text } }, 'same') });
    const told = await Promise.all(['one', 'two', 'three'].map(call));
    expect(told.map(({ message }) => JSON.stringify(message.result))).toEqual([
      expect.stringContaining('one'),
      expect.stringContaining('two'),
      expect.stringContaining('three'),
    ]);
  });
});
