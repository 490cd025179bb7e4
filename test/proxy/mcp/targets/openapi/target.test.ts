import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { brotliCompressSync } from 'node:zlib';

import { openApiTarget } from '../../../../../proxy/mcp/targets/openapi/connection.ts';
import { compileDocument } from '../../../../../proxy/mcp/targets/openapi/document.ts';
import { fixedDocument } from '../../../../../proxy/mcp/targets/openapi/live-document.ts';
import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import type { JsonObject } from '../../../../../src/shared/json.ts';
import { nodeCaller, petShop, said, service } from './shop.ts';

let shop: Awaited<ReturnType<typeof service>>;
let connection: TargetConnection;

beforeEach(async () => {
  shop = await service();
  const document = fixedDocument(compileDocument(petShop()));
  const caller = nodeCaller(shop.port);
  connection = openApiTarget({ name: 'shop', document, path: '/base', caller, maxAnswerBytes: 100_000 }).connect(null);
});
afterEach(() => shop.close());

async function called(name: string, given: JsonObject, client: readonly [string, string][] = []) {
  const { messages, failure } = await said(connection, 'tools/call', { name, arguments: given }, client);
  const [message] = messages;
  if (message?.kind !== 'result') return { message, failure };
  return message.result;
}

const tenant = { header: { 'X-Tenant': 'acme' } };

describe('the request of a call', () => {
  test('has path, query and headers as the operation says', async () => {
    const query = { limit: 3, tag: ['a b', 'c&d'], near: [1.5, 2], born: { after: '2020', by: null } };
    await called('listPets', { ...tenant, query });
    expect(shop.got[0]?.line).toBe(
      'GET /base/live/v1/pets?limit=3&tag=a%20b&tag=c%26d&near=1.5%2C2&born%5Bafter%5D=2020',
    );
    expect(shop.got[0]?.headers).toMatchObject({ 'x-tenant': 'acme', accept: 'application/json' });
    expect(shop.got[0]?.headers).not.toHaveProperty('content-type');
  });

  test('writes a null of a query as its bare name, and leaves out what is not declared', async () => {
    await called('listPets', { ...tenant, query: { tag: null, other: 1 }, path: { petId: 1 } });
    expect(shop.got[0]?.line).toBe('GET /base/live/v1/pets?tag');
  });

  test('escapes what stands in a path', async () => {
    await called('getPet', { header: { 'X-Trace': 't' }, path: { petId: "a/b?c#d é'" } });
    expect(shop.got[0]?.line).toBe('GET /base/live/v1/pets/a%2Fb%3Fc%23d%20%C3%A9%27');
  });

  test('has a body in JSON', async () => {
    await called('addPet', { ...tenant, body: { name: 'Kitty', __proto__: null } });
    expect(shop.got[0]).toMatchObject({ line: 'POST /base/live/v1/pets', body: '{"name":"Kitty"}' });
    expect(shop.got[0]?.headers['content-type']).toBe('application/json');
  });

  test('has a body of bytes', async () => {
    await called('setPortrait', {
      path: { petId: 4, view: 'left' },
      body: Buffer.from([0, 255, 10]).toString('base64'),
    });
    expect(shop.got[0]).toMatchObject({ line: 'PUT /base/live/v1/pets/4/portraits/left.png', body: '\x00\xff\n' });
    expect(shop.got[0]?.headers['content-type']).toBe('application/octet-stream');
  });

  test('has the fields of a form', async () => {
    await called('order', { body: { pet: 4, note: 'a b&c', tags: [1, 2] } });
    expect(shop.got[0]?.body).toBe('pet=4&note=a%20b%26c&tags=1&tags=2');
  });

  test("carries the client's own headers, which a tool does not replace", async () => {
    const client: [string, string][] = [
      ['authorization', 'Bearer t'],
      ['x-tenant', 'own'],
      ['mcp-method', 'tools/call'],
      ['mcp-param-x', '1'],
      ['content-type', 'application/json'],
      ['accept', 'text/event-stream, application/json'],
    ];
    await called('listPets', tenant, client);
    expect(shop.got[0]?.headers).toMatchObject({
      authorization: 'Bearer t',
      'x-tenant': 'own',
      accept: 'application/json',
    });
    expect(Object.keys(shop.got[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['mcp-method']));
    expect(shop.got[0]?.headers).not.toHaveProperty('mcp-param-x');
    expect(shop.got[0]?.headers).not.toHaveProperty('content-type');
  });

  test.each([
    ['a path parameter is missing', 'getPet', { header: { 'X-Trace': 't' } }, 'the path parameter `petId` is missing'],
    [
      'a path parameter is empty',
      'getPet',
      { header: { 'X-Trace': 't' }, path: { petId: '' } },
      'the path parameter `petId` is missing',
    ],
    [
      'a path parameter leads upwards',
      'getPet',
      { header: { 'X-Trace': 't' }, path: { petId: '..' } },
      'a path parameter is not made of dots alone',
    ],
    ['a header is missing', 'listPets', {}, 'the header `X-Tenant` is missing'],
    [
      'a header would begin another',
      'listPets',
      { header: { 'X-Tenant': 'a\r\nx: y' } },
      'the header `X-Tenant` has characters that headers cannot have',
    ],
    ['a body is missing', 'addPet', tenant, '`body` is missing'],
    ['a body is no base64', 'setPortrait', { path: { petId: 1, view: 'x' }, body: '%%' }, '`body` is not in base64'],
    ['a group is none', 'listPets', { query: 3 }, '`query` is no object'],
  ] as const)('is not sent when %s', async (_, name, given, problem) => {
    expect(await called(name, given)).toEqual({ content: [{ type: 'text', text: problem }], isError: true });
    expect(shop.got).toEqual([]);
  });
});

describe('the answer of a call', () => {
  const outcomes: readonly [string, number, string | Buffer, JsonObject][] = [
    ['an object', 200, '{"a":[1]}', { a: [1] }],
    ['a list', 200, '[1,2]', { data: [1, 2] }],
    ['null', 200, 'null', { data: null }],
    ['text', 201, 'made', { code: 201, message: 'made' }],
    ['nothing', 204, '', { code: 204, message: '' }],
    ['bytes', 200, Buffer.from([0xff]), { code: 200, message: '\ufffd' }],
  ];
  test.each(outcomes)('%s', async (_, status, body, told) => {
    Object.assign(shop.reply, { status, body });
    expect(await called('listPets', tenant)).toEqual({
      content: [{ type: 'text', text: JSON.stringify(told) }],
      structuredContent: told,
    });
  });

  test('a refusal is told as one, with what the service says', async () => {
    Object.assign(shop.reply, { status: 404, body: '{"error":"gone"}' });
    expect(await called('listPets', tenant)).toEqual({
      content: [{ type: 'text', text: '{"error":"gone"}' }],
      structuredContent: { error: 'gone' },
      isError: true,
    });
  });

  test('numbers keep their digits', async () => {
    Object.assign(shop.reply, { body: '{"id":9007199254740993}' });
    expect(JSON.stringify(await called('listPets', tenant))).toContain('"structuredContent":{"id":9007199254740993}');
    Object.assign(shop.reply, { body: '9007199254740993' });
    expect(JSON.stringify(await called('listPets', tenant))).toContain('"structuredContent":{"data":9007199254740993}');
  });

  test('a redirect is not followed, and told with where it leads', async () => {
    const location = 'https://elsewhere.example/x';
    Object.assign(shop.reply, { status: 302, headers: { location }, body: '' });
    expect(await called('listPets', tenant)).toMatchObject({ structuredContent: { code: 302, message: '', location } });
    expect(shop.got).toHaveLength(1);
  });

  test('text is read as it is written', async () => {
    const headers = { 'content-type': 'text/plain; charset=iso-8859-1' };
    Object.assign(shop.reply, { headers, body: Buffer.from([0x63, 0xe9]) });
    expect(await called('listPets', tenant)).toMatchObject({ structuredContent: { code: 200, message: 'c\u00e9' } });
  });

  const bytes = Buffer.from([0x89, 0x50, 0, 0xff]);
  const data = bytes.toString('base64');
  const blob = (mimeType: string): JsonObject => ({
    type: 'resource',
    resource: { uri: 'openapi:///base/live/v1/pets', mimeType, blob: data },
  });
  test.each<readonly [string, JsonObject]>([
    ['image/png', { type: 'image', data, mimeType: 'image/png' }],
    ['audio/mpeg; x=y', { type: 'audio', data, mimeType: 'audio/mpeg' }],
    ['application/pdf', blob('application/pdf')],
    ['', blob('application/octet-stream')],
  ])('bytes of %s are content of their own', async (type, block) => {
    Object.assign(shop.reply, { headers: type === '' ? {} : { 'content-type': type }, body: bytes });
    expect(await called('listPets', tenant)).toEqual({ content: [block] });
    const { messages } = await said(
      connection,
      'tools/call',
      { name: 'listPets', arguments: tenant },
      [],
      '2024-11-05',
    );
    const old = type.startsWith('audio') ? blob('audio/mpeg') : block;
    expect(messages).toEqual([{ kind: 'result', id: 7, result: { content: [old] } }]);
  });

  test('a failure of the service is an error', async () => {
    Object.assign(shop.reply, { status: 503, body: 'closed today' });
    expect(await called('listPets', tenant)).toMatchObject({
      message: { kind: 'error', id: 7, error: { code: -32603, message: 'upstream error 503: closed today' } },
      failure: null,
    });
  });

  test('compressed answers are read', async () => {
    Object.assign(shop.reply, { headers: { 'content-encoding': 'br' }, body: brotliCompressSync('{"a":1}') });
    expect(await called('listPets', tenant)).toMatchObject({ structuredContent: { a: 1 } });
  });

  test('bombs and endless answers are not', async () => {
    Object.assign(shop.reply, {
      headers: { 'content-encoding': 'br' },
      body: brotliCompressSync('x'.repeat(1_000_000)),
    });
    expect(await called('listPets', tenant)).toMatchObject({ failure: { kind: 'broken' } });
    Object.assign(shop.reply, { headers: {}, body: 'x'.repeat(1_000_000) });
    expect(await called('listPets', tenant)).toMatchObject({
      failure: { message: 'the answer is longer than 100000 bytes' },
    });
    Object.assign(shop.reply, { headers: { 'content-encoding': 'rot13' }, body: 'x' });
    expect(await called('listPets', tenant)).toMatchObject({ failure: { message: /unknown way: rot13/ } });
  });

  test('data that is deeper than anybody writes is told as text', async () => {
    Object.assign(shop.reply, { body: '['.repeat(40_000) + ']'.repeat(40_000) });
    expect(await called('listPets', tenant)).toMatchObject({ structuredContent: { code: 200 } });
  });

  test('a service that is not there is a failure', async () => {
    await shop.close();
    expect(await called('listPets', tenant)).toMatchObject({ failure: { kind: 'broken' } });
    shop = await service();
  });
});

describe('what needs no call', () => {
  test.each([
    [
      'initialize',
      { protocolVersion: '2025-03-26' },
      {
        protocolVersion: '2025-03-26',
        capabilities: { tools: {} },
        serverInfo: { name: 'Pet shop', version: '1.4.0' },
      },
    ],
    ['initialize', { protocolVersion: '1999-01-01' }, { protocolVersion: '2025-11-25' }],
    ['server/discover', {}, { supportedVersions: ['2026-07-28'] }],
    ['ping', {}, {}],
    ['prompts/list', {}, { prompts: [] }],
    ['prompts/get', { name: 'x' }, { messages: [] }],
    ['resources/list', {}, { resources: [] }],
    ['resources/templates/list', {}, { resourceTemplates: [] }],
    ['resources/read', { uri: 'a:b' }, { contents: [] }],
  ])('%s', async (method, params, result) => {
    const { messages, failure } = await said(connection, method, params);
    expect(messages).toMatchObject([{ kind: 'result', id: 7, result }]);
    expect(failure).toBeNull();
  });

  test('the tools are listed', async () => {
    const { messages } = await said(connection, 'tools/list');
    expect(messages).toMatchObject([
      { result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'getPet' })]) } },
    ]);
  });

  test.each([
    ['tools/call', { name: 'constructor' }, -32602, 'Unknown tool: constructor'],
    ['tasks/get', { taskId: '1' }, -32602, 'unknown task'],
    ['completion/complete', {}, -32601, 'Method not found: completion/complete'],
  ])('%s is refused', async (method, params, code, message) => {
    const { messages } = await said(connection, method, params);
    expect(messages).toEqual([{ kind: 'error', id: 7, error: { code, message } }]);
  });

  test.each(['logging/setLevel', 'resources/subscribe'])('%s ends without an answer', async (method) => {
    expect(await said(connection, method)).toMatchObject({ messages: [], failure: { kind: 'unsupported' } });
  });
});
