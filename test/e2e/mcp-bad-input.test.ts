/** What clients of MCP get wrong, or pretend to. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { Cleanup, startGateway, type RunningGateway } from './gateway.ts';
import { begin, call, HELLO, type Message, post, type Told } from './mcp-raw.ts';
import { DEPTH, startWild, type WildServer } from './mcp-wild.ts';
import { nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const PROGRAM = `${import.meta.dirname}/mcp-wild-program.ts`;
const KEYS = ['a', 'b'].map((digit) => digit.repeat(64));
const LIMIT = 2 ** 20;

let server: WildServer;
let gateway: RunningGateway;
let one: number;
let several: number;
let program: number;
beforeAll(async () => {
  server = await startWild();
  gateway = await startGateway(configOf(KEYS[0] ?? ''), { threads: 2 });
  [one, several, program] = [gateway.port(80), gateway.port(81), gateway.port(82)] as const;
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

function configOf(key: string): string {
  const http = (name: string): string => `{name: ${name}, mcp: {host: "http://127.0.0.1:${server.port}/mcp"}}`;
  const stdio = `{name: p, stdio: {cmd: "${process.execPath}", args: ["${PROGRAM}"]}}`;
  const bind = (port: number, targets: string): string =>
    `- {port: ${port}, listeners: [{routes: [{name: r${port}, backends: [{mcp: {targets: [${targets}]}}]}]}]}`;
  return `config: {adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1", session: {key: "${key}"}}
frontendPolicies: {http: {maxBufferSize: ${LIMIT}}}
binds:
${bind(80, http('a'))}
${bind(81, `${http('a')}, ${http('b')}`)}
${bind(82, stdio)}
`;
}

const errorOf = ({ messages }: Told): Message['error'] => messages.at(-1)?.error;
const textOf = ({ messages }: Told): unknown => {
  const [content] = (messages.at(-1)?.result?.['content'] ?? []) as { readonly text?: string }[]; // of the wild server
  return content?.text;
};

describe('a body that is no message', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['blanks', ' \r\n'],
    ['no JSON', '{"jsonrpc": "2.0", "id": 1, "method": "ping"'],
    ['two messages', '{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}'],
    ['null', 'null'],
    ['a number', '12'],
    ['a text', '"ping"'],
    ['an empty object', '{}'],
    ['an empty batch', '[]'],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]'],
    ['JSON-RPC 1.0', '{"id":1,"method":"ping"}'],
    ['another version', '{"jsonrpc":"3.0","id":1,"method":"ping"}'],
    ['a method that is none', '{"jsonrpc":"2.0","id":1,"method":7}'],
    ['an empty method', '{"jsonrpc":"2.0","id":1,"method":""}'],
    ['a request that is an answer', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
    ['an answer to nothing', '{"jsonrpc":"2.0","result":{}}'],
    ['an answer of two kinds', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
    ['an error without a code', '{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}'],
    ['the id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ['an id that is a list', '{"jsonrpc":"2.0","id":[1],"method":"ping"}'],
    ['an id that is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}'],
    ['an id that no double holds', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'],
    ['an id beyond all numbers', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}'],
    ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
    ['a NUL', '{"jsonrpc":"2.0","id":"\u0000","method":"ping"}'],
    [
      'no UTF-8',
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"'), Buffer.from([0xff]), Buffer.from('","method":"ping"}')]),
    ],
    ['cut UTF-8', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}ü').subarray(0, -1)],
    ['UTF-16', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}', 'utf16le')],
    ['a byte order mark', '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}'],
    ['lists in lists', '['.repeat(DEPTH)],
    ['objects in objects', '{"a":'.repeat(DEPTH)],
    [
      'deep parameters',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}}`,
    ],
  ])('%s', async (_name, body) => {
    const session = await begin(one);
    for (const headers of [{}, session]) {
      const answer = await post(one, body, headers);
      expect([answer.status, answer.headers['x-gw-reason']]).toEqual([400, 'MCP']);
      expect(answer.headers['content-type']).toBe('text/plain');
    }
    expect(textOf(await post(one, call('echo', { still: 'here' }), session))).toBe('{"still":"here"}');
  });

  test('is told with its id where its parameters are wrong', async () => {
    const session = await begin(one);
    for (const params of ['[]', '"x"', '1', 'null', 'true']) {
      const answer = await post(one, `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":${params}}`, session);
      expect([answer.status, answer.messages[0]?.id, errorOf(answer)?.code]).toEqual([400, 7, -32602]);
    }
  });
});

describe('an id', () => {
  const ids = [
    0,
    -1,
    1,
    1.5,
    2 ** 53,
    1e21,
    1e-7,
    '',
    'a',
    '0',
    '__proto__',
    'constructor',
    'gw_a_n_1',
    'ü\u0000\n"',
    'x'.repeat(10_000),
  ];

  test.each(['one server', 'several servers', 'a program'])(
    'of every legal kind comes back as it was, from %s',
    async (kind) => {
      const [port, name] =
        kind === 'one server' ? [one, 'echo'] : kind === 'a program' ? [program, 'echo'] : [several, 'b_echo'];
      const session = await begin(port);
      for (const id of ids) {
        const answer = await post(port, call(name, { id }, id), session);
        expect([answer.status, answer.messages.length, answer.messages[0]?.id]).toEqual([200, 1, id]);
        expect(textOf(answer)).toBe(JSON.stringify({ id }));
        const list = await post(port, { id, method: 'prompts/list' }, session);
        expect([list.status, list.messages[0]?.id]).toEqual([200, id]);
      }
    },
  );

  test('may be in flight twice', async () => {
    for (const [port, name] of [
      [one, 'echo'],
      [several, 'a_echo'],
      [program, 'echo'],
    ] as const) {
      const session = await begin(port);
      const asked = Array.from({ length: 20 }, (_, at) => post(port, call(name, { at }, 'same'), session));
      const answers = await Promise.all(asked);
      expect(answers.map(textOf)).toEqual(answers.map((_, at) => JSON.stringify({ at })));
      expect(new Set(answers.map(({ messages }) => messages[0]?.id))).toEqual(new Set(['same']));
    }
  });
});

describe('a method', () => {
  test.each(['nothing/of/the/kind', 'toString', '__proto__', 'tools/list/', 'TOOLS/LIST', 'rpc.discover'])(
    'that nobody knows ends no session: %s',
    async (method) => {
      for (const port of [one, several, program]) {
        const session = await begin(port);
        const answer = await post(port, { id: 1, method }, session);
        expect([answer.status, errorOf(answer)?.code]).toEqual([200, -32601]);
        expect((await post(port, { id: 2, method: 'ping' }, session)).messages[0]?.result).toEqual({});
      }
    },
  );

  test('that a modern client may not use is 404 for it', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    for (const method of ['nothing/of/the/kind', 'initialize', 'ping', 'resources/subscribe']) {
      const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
      const answer = await post(one, { id: 1, method, params: { _meta } }, headers);
      expect([answer.status, errorOf(answer)?.code]).toEqual([404, -32601]);
    }
  });
});

describe('a header', () => {
  const ping = { id: 1, method: 'ping' };

  test.each<[string, Record<string, string | string[]>, number]>([
    ['accepts anything', { accept: '*/*' }, 406],
    ['accepts JSON alone', { accept: 'application/json' }, 406],
    ['accepts events alone', { accept: 'text/event-stream' }, 406],
    ['accepts both in two lines', { accept: ['application/json', 'text/event-stream'] }, 200],
    ['accepts both in capitals', { accept: 'APPLICATION/JSON, Text/Event-Stream;q=0.5' }, 200],
    ['says it is text', { 'content-type': 'text/plain' }, 415],
    ['says it is some kind of JSON', { 'content-type': 'application/json-rpc' }, 415],
    ['says it is a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['says it is JSON in UTF-8', { 'content-type': 'application/json; charset=utf-8' }, 200],
    ['says it is packed, which it is not', { 'content-encoding': 'gzip' }, 400],
    ['says it is packed in an unknown way', { 'content-encoding': 'rot13' }, 415],
    ['names a version of never', { 'mcp-protocol-version': '1999-01-01' }, 400],
    ['names two versions', { 'mcp-protocol-version': ['2025-06-18', '2025-03-26'] }, 400],
    ['names another method', { 'mcp-method': 'tools/list' }, 400],
    ['names a tool where none is', { 'mcp-name': 'echo' }, 400],
  ])('that %s', async (_name, headers, status) => {
    const session = await begin(one);
    const answer = await post(one, ping, { ...session, ...headers });
    expect(answer.status).toBe(status);
  });
});

describe('a session id', () => {
  const list = { id: 1, method: 'tools/call', params: { name: 'echo' } };

  test('is needed for everything but the handshake', async () => {
    for (const message of [list, { method: 'notifications/initialized' }, { id: 1, result: {} }]) {
      const answer = await post(one, message);
      expect([answer.status, answer.headers['x-gw-reason']]).toEqual([400, 'MCP']);
    }
  });

  test('that is none is refused, one that may have been some is not known', async () => {
    const { 'mcp-session-id': good } = await begin(one);
    const bytes = Buffer.from(good, 'base64');
    const forged = Buffer.from(bytes);
    forged[20] = (forged[20] ?? 0) ^ 1;
    const readable = Buffer.from(JSON.stringify({ t: 'mcp', s: [{ t: 'a', s: 'stolen' }] }));
    const expected: readonly (readonly [string, number])[] = [
      ['x', 400],
      ['../../etc/passwd', 400],
      [`${good}=`, 400],
      [good.slice(1), 400],
      [good.toUpperCase(), 404],
      [bytes.subarray(0, 28).toString('base64'), 400],
      [bytes.subarray(0, -4).toString('base64'), 404],
      [forged.toString('base64'), 404],
      [readable.toString('base64url'), 400],
      [Buffer.alloc(300).toString('base64'), 404],
    ];
    const got = await Promise.all(
      expected.map(async ([id]) => [id, (await post(one, list, { 'mcp-session-id': id })).status] as const),
    );
    // Whether letters that were changed still are base64 is chance of the id.
    const fixed = (all: readonly (readonly [string, number])[]) => all.filter(([id]) => id !== good.toUpperCase());
    expect(fixed(got)).toEqual(fixed(expected));
    expect((await post(one, list, { 'mcp-session-id': [good, 'x'] })).status).toBe(400);
    expect((await post(one, list, { 'mcp-session-id': good })).status).toBe(200);
  });

  test('of another backend or of another key is not known', async () => {
    const other = cleanup.add(await startGateway(configOf(KEYS[1] ?? ''), { threads: 1 }));
    const replica = cleanup.add(await startGateway(configOf(KEYS[0] ?? ''), { threads: 1 }));
    const session = await begin(one);
    expect((await post(several, list, session)).status).toBe(404);
    expect((await post(other.port(80), list, session)).status).toBe(404);
    expect((await post(replica.port(80), list, session)).status).toBe(200);
    expect((await post(program, list, await begin(program))).status).toBe(200);
    // A program is in the process that began it.
    expect((await post(replica.port(82), list, await begin(program))).status).toBe(404);
  });
});

describe('a message', () => {
  test('that is too large is refused, however it comes', async () => {
    const session = await begin(one);
    const large = call('echo', { text: 'x'.repeat(LIMIT) });
    expect((await post(one, large, session)).status).toBe(413);
    expect((await post(one, large, { ...session, 'transfer-encoding': 'chunked' })).status).toBe(413);
    const fits = 'x'.repeat(LIMIT - 4096);
    expect(textOf(await post(one, call('echo', { fits }), session))).toBe(JSON.stringify({ fits }));
  });

  test('may hold any text and any names', async () => {
    for (const [port, name] of [
      [one, 'echo'],
      [several, 'b_echo'],
      [program, 'echo'],
    ] as const) {
      const session = await begin(port);
      const args = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"text":"\\u0000\\ud800 ü \\u2028"}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
      const answer = await post(port, body, session);
      expect(textOf(answer)).toBe(JSON.stringify(JSON.parse(args)));
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('with a member twice counts as its last', async () => {
    const session = await begin(one);
    const body =
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"nothing","method":"tools/call","params":{"name":"echo","arguments":{}}}';
    expect((await post(one, body, session)).messages[0]?.id).toBe(2);
  });

  test('to a tool that is nowhere leads nowhere', async () => {
    for (const name of ['', 'echo', '_', 'a_', 'c_echo', '__proto___x', 'a_a_echo', 'a+echo']) {
      const answer = await post(several, call(name), await begin(several));
      expect([answer.status, errorOf(answer)?.code]).toEqual([200, -32602]);
    }
  });
});

test('a crowd that asks nonsense leaves nothing behind', async () => {
  const crowd = Array.from({ length: 200 }, (_, at) =>
    at % 2 === 0 ? post(one, HELLO) : post(one, 'x'.repeat(at), { accept: at % 3 === 0 ? '*/*' : 'application/json' }),
  );
  await Promise.all(crowd);
  await nothingLeft(gateway);
});
