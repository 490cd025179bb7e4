import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { Explanation, ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import { gwctl } from '../commands/gwctl.ts';
import { Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-explain-'));
});
afterEach(async () => {
  await cleanup.run();
  rmSync(folder, { recursive: true });
});

const DOCUMENT = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
});

/** A program that leaves a mark, a server and a document whose requests are counted, and rules about tools. */
async function configured(more = '') {
  const asked: string[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader('content-type', 'application/json').end(DOCUMENT);
    }),
  );
  const mark = join(folder, 'started');
  const text = `
mcp:
  port: 800
  ${more}
  targets:
  - {name: files, stdio: {cmd: /usr/bin/touch, args: ["${mark}"]}}
  - {name: web, mcp: {host: "http://127.0.0.1:${server.port}/mcp"}}
  - {name: pets, openapi: {host: "http://127.0.0.1:${server.port}", schema: {url: "http://127.0.0.1:${server.port}/openapi.json"}}}
  policies:
    mcpAuthorization: {rules: [{deny: 'mcp.tool.name == "secret"'}, {allow: 'true'}]}
`;
  return { text, asked, calledNobody: () => !existsSync(mark) };
}

const HEADERS = [
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
] as const;

function question(method: string, params: object = {}, headers: ExplainQuestion['headers'] = []): ExplainQuestion {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } };
  const { name, uri } = params as { readonly name?: string; readonly uri?: string };
  const item = name ?? uri;
  return {
    method: 'POST',
    scheme: 'http',
    authority: 'localhost',
    target: '/mcp',
    headers: [
      ...HEADERS,
      ['mcp-protocol-version', '2026-07-28'],
      ['mcp-method', method],
      ...(item === undefined ? [] : ([['mcp-name', item]] as const)),
      ...headers,
    ],
    body: Buffer.from(JSON.stringify(message)).toString('base64'),
  };
}

async function started(more = '') {
  const { text, asked, calledNobody } = await configured(more);
  const gateway = cleanup.add(await startGateway(text));
  // The document itself, when the configuration was loaded.
  expect(asked.splice(0)).toEqual(['GET /openapi.json']);
  const explain = async (asking: ExplainQuestion): Promise<Explanation> => {
    const answer = await fetch(`${gateway.admin}/debug/explain`, { method: 'POST', body: JSON.stringify(asking) });
    const said = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status}: ${said}`);
    expect({ asked, nobody: calledNobody() }).toEqual({ asked: [], nobody: true });
    // `as`: the endpoint writes what the protocol says.
    return JSON.parse(said) as Explanation;
  };
  return { ...gateway, explain };
}

const mcpOf = ({ policies }: Explanation): string[] =>
  policies.filter(({ kind }) => kind === 'mcp').map(({ details }) => details);

describe('a request for MCP servers that is only thought of', () => {
  test.each([
    [
      'tools/call',
      { name: 'files_read' },
      /^target files \(program \/usr\/bin\/touch\)$/,
      'target files, which knows it as read',
    ],
    [
      'tools/call',
      { name: 'pets_listPets' },
      /^target pets \(openapi, 127\.0\.0\.1:\d+\)$/,
      'which knows it as listPets',
    ],
    ['prompts/get', { name: 'web_p' }, /^target web \(streamable, 127\.0\.0\.1:\d+\)$/, 'prompts/get of prompt web_p'],
    ['resources/read', { uri: 'web+memo:x' }, /^target web/, 'which knows it as memo:x'],
    ['tools/list', {}, /^targets files, web, pets$/, 'tools/list goes to every target'],
    ['server/discover', {}, /^targets files, web, pets$/, 'server/discover goes to every target'],
  ])('%s %j tells who would be asked, and asks nobody', async (method, params, endpoint, why) => {
    const { explain } = await started();
    const explained = await explain(question(method, params));
    expect(explained.answer).toMatchObject({ by: 'backend', status: null });
    expect(explained.backend).toMatchObject({
      name: '/mcp',
      endpoint: expect.stringMatching(endpoint),
    });
    expect(mcpOf(explained)).toEqual([expect.stringContaining(why)]);
  });

  test.each([
    ['tools/call', { name: 'nobody_knows' }],
    ['tools/call', { name: 'noprefix' }],
    ['tools/call', { name: 'files_secret' }],
    ['no/such/method', {}],
  ])('%s %j is refused by the gateway', async (method, params) => {
    const { explain } = await started();
    const explained = await explain(question(method, params));
    expect(explained.answer.by).toBe('gateway');
    expect(explained.backend?.endpoint ?? null).toBeNull();
  });

  test('is read as any other: what it accepts, what it is, which session it names', async () => {
    const { explain } = await started();
    const whole = question('tools/list');
    const asked = async (change: Partial<ExplainQuestion>) => (await explain({ ...whole, ...change })).answer.status;
    expect(await asked({ headers: [['content-type', 'application/json']] })).toBe(406);
    expect(await asked({ headers: [HEADERS[1]] })).toBe(415);
    expect(await asked({ body: Buffer.from('{').toString('base64') })).toBe(400);
    expect(await asked({ method: 'PUT' })).toBe(405);
    const legacy = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const body = Buffer.from(JSON.stringify(legacy)).toString('base64');
    expect(await asked({ headers: HEADERS, body })).toBe(400);
    expect(await asked({ headers: [...HEADERS, ['mcp-session-id', 'forged']], body })).toBeGreaterThanOrEqual(400);
  });

  test('goes on in a session that the gateway has given out', async () => {
    const { explain } = await started();
    const id = Buffer.from(JSON.stringify({ t: 'mcp', s: ['files', 'web', 'pets'].map((t) => ({ t })) })).toString(
      'base64url',
    );
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })).toString('base64');
    const explained = await explain({
      ...question('tools/list'),
      headers: [...HEADERS, ['mcp-session-id', id], ['mcp-protocol-version', '2025-11-25']],
      body,
    });
    expect(explained).toMatchObject({ answer: { by: 'backend' }, backend: { endpoint: 'targets files, web, pets' } });
  });

  test('cannot tell whose a tool is where names do not say it', async () => {
    const { explain } = await started('prefixMode: never');
    const explained = await explain(question('tools/call', { name: 'read' }));
    expect(mcpOf(explained)).toEqual([expect.stringContaining('names do not tell which')]);
    expect(explained.backend?.endpoint).toBe('targets files, web, pets');
  });

  test('needs no gateway, and no document that services are described by', async () => {
    const { text, asked, calledNobody } = await configured();
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, text);
    const { body = '', headers } = question('tools/call', { name: 'files_read' });
    const { code, stdout, stderr } = await gwctl([
      'explain',
      '--file',
      file,
      '--',
      '-X',
      'POST',
      ...headers.flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      '-d',
      Buffer.from(body, 'base64').toString(),
      'http://localhost:800/mcp',
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('mcp at target files (program /usr/bin/touch)');
    expect(stdout).toContain('tools/call of tool files_read goes to target files, which knows it as read');
    expect({ asked, nobody: calledNobody() }).toEqual({ asked: [], nobody: true });
  });
});

test('what the only server says of its own login would come from it', async () => {
  const asked: string[] = [];
  const server = cleanup.add(await upstream((request, response) => (asked.push(request.url ?? ''), response.end())));
  const gateway = cleanup.add(
    await startGateway(`mcp: {port: 800, targets: [{name: a, mcp: {host: "http://127.0.0.1:${server.port}/mcp"}}]}`),
  );
  const asking = {
    ...question('tools/list'),
    method: 'GET',
    target: '/.well-known/oauth-protected-resource/mcp',
    headers: [],
    body: undefined,
  };
  const answer = await fetch(`${gateway.admin}/debug/explain`, { method: 'POST', body: JSON.stringify(asking) });
  expect(await answer.json()).toMatchObject({
    answer: { by: 'backend' },
    backend: { endpoint: `target a (streamable, 127.0.0.1:${server.port})` },
  });
  expect(asked).toEqual([]);
});

describe('a message of MCP typed by hand', () => {
  const explained = async (message: object, ...headers: string[]) => {
    const { text } = await configured();
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, text);
    const words = ['-f', file, '--', 'http://localhost:800/mcp', '-d', JSON.stringify(message)];
    return gwctl(['explain', ...words, ...headers.flatMap((header) => ['-H', header])]);
  };
  const call = (name: string) => ({ jsonrpc: '2.0', method: 'tools/call', params: { name } });

  test('is explained as if a client had sent it', async () => {
    const { code, stdout, stderr } = await explained(call('files_read'));
    expect([code, stdout]).toEqual([0, expect.stringContaining('target files, which knows it as read')]);
    expect(stderr).toContain('as an MCP client without a session sends it');
    expect((await explained(call('files_secret'))).stdout).toContain('deny mcp.tool.name == "secret" is true');
  });

  test('stays as it is where it names its session, and where it is of another protocol', async () => {
    const { stdout } = await explained(call('files_read'), 'mcp-session-id: x');
    expect(stdout).toContain('406 from the gateway');
    const agent = await explained({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} });
    expect([agent.stdout, agent.stderr]).toEqual([expect.stringContaining('406 from the gateway'), '']);
  });
});
