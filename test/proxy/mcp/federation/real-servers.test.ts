import { afterEach, describe, expect, test } from '@jest/globals';
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { z } from 'zod';
import type { FederatedSession } from '../../../../proxy/mcp/federation/session.ts';
import { SessionTransport } from '../sdk-client.ts';
import { sdkTarget } from '../sdk-target.ts';
import { federation, type Setup } from './scripted.ts';

/** A server with one of everything; its own name is in whatever it says. */
function server(name: string, built: McpServer[]): McpServer {
  const mcp = new McpServer(
    { name, version: '1' },
    { capabilities: { logging: {}, resources: { subscribe: true } }, instructions: `I am ${name}.` },
  );
  built.push(mcp);
  mcp.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [
      { type: 'text', text: `${name}: ${text}` },
      { type: 'resource_link', uri: 'memo:note', name: 'note' },
    ],
  }));
  mcp.registerTool('ask', {}, async () => {
    const { model } = await mcp.server.createMessage({ messages: [], maxTokens: 1 });
    const { action } = await mcp.server.elicitInput({
      message: name,
      requestedSchema: { type: 'object', properties: {} },
    });
    const { roots } = await mcp.server.listRoots();
    return { content: [{ type: 'text', text: [name, model, action, roots[0]?.uri].join(' ') }] };
  });
  mcp.registerTool('slow', {}, async ({ _meta, sendNotification, signal }) => {
    const progressToken = _meta?.progressToken;
    for (const progress of [1, 2])
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken: progressToken ?? 0, progress },
      });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    stopped.resolve(name);
    return { content: [] };
  });
  mcp.registerTool('log', {}, async () => {
    await mcp.server.sendLoggingMessage({ level: 'error', data: name });
    await mcp.server.sendResourceUpdated({ uri: 'memo:note' });
    return { content: [] };
  });
  mcp.registerResource('note', 'memo:note', {}, (uri) => ({ contents: [{ uri: uri.href, text: name }] }));
  mcp.registerResource(
    'page',
    new ResourceTemplate('page://{n}/x', { list: undefined, complete: { n: (value) => [`${value}-${name}`] } }),
    {},
    (uri) => ({ contents: [{ uri: uri.href, text: name }] }),
  );
  mcp.registerPrompt(
    'greet',
    { argsSchema: { who: completable(z.string(), (value) => [`${value} of ${name}`]) } },
    ({ who }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `${name}, ${who}` } }],
    }),
  );
  mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.push(`${name} ${params.uri}`);
    return {};
  });
  return mcp;
}

let stopped = Promise.withResolvers<string>();
let subscribed: string[] = [];
let clients: SdkClient[] = [];

async function connected(names: readonly string[], setup: Setup = {}) {
  const built: McpServer[] = [];
  const session = federation(
    names.map((name) => sdkTarget(name, () => server(name, built))),
    setup,
  ).open({ identify: () => 'id' });
  if ('status' in session) throw new Error(session.message);
  const client = new SdkClient(
    { name: 'c', version: '1' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} } },
  );
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: '' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///r' }] }));
  clients.push(client);
  await client.connect(new SessionTransport(session));
  return { client, built, session: session satisfies FederatedSession };
}

afterEach(async () => {
  for (const client of clients) await client.close();
  clients = [];
  subscribed = [];
  stopped = Promise.withResolvers();
});

/** What one of the servers' names become, with one server and with several. */
const shapes = [
  { names: ['a'], setup: {}, tool: (name: string) => name, uri: (uri: string) => uri },
  { names: ['a'], setup: { prefixMode: 'always' }, tool: (n: string) => `a_${n}`, uri: (u: string) => `a+${u}` },
  { names: ['b', 'a', 'c'], setup: {}, tool: (n: string) => `a_${n}`, uri: (u: string) => `a+${u}` },
] as const;

describe.each(shapes)('an SDK client with servers $names, $setup', ({ names, setup, tool, uri }) => {
  const text = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

  test('calls tools and follows their links', async () => {
    const { client } = await connected(names, setup);
    const result = await client.callTool({ name: tool('echo'), arguments: { text: 'hi' } });
    expect(result.content).toEqual([
      { type: 'text', text: 'a: hi' },
      { type: 'resource_link', uri: uri('memo:note'), name: 'note' },
    ]);
    const read = await client.readResource({ uri: uri('memo:note') });
    expect(read.contents).toEqual([{ uri: uri('memo:note'), text: 'a' }]);
  });

  test('lists everything of everybody', async () => {
    const { client } = await connected(names, setup);
    const { tools } = await client.listTools();
    expect(tools.length).toBe(4 * names.length);
    expect(tools.map(({ name }) => name)).toContain(tool('echo'));
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain(tool('greet'));
    expect((await client.listResources()).resources.map((r) => r.uri)).toContain(uri('memo:note'));
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map((r) => r.uriTemplate)).toContain(uri('page://{n}/x'));
    expect(client.getInstructions()).toContain('I am a.');
  });

  test('gets prompts and completions', async () => {
    const { client } = await connected(names, setup);
    const prompt = await client.getPrompt({ name: tool('greet'), arguments: { who: 'x' } });
    expect(prompt.messages[0]?.content).toEqual({ type: 'text', text: 'a, x' });
    const byPrompt = { type: 'ref/prompt', name: tool('greet') } as const;
    const one = await client.complete({ ref: byPrompt, argument: { name: 'who', value: 'x' } });
    expect(one.completion.values).toEqual(['x of a']);
    const byTemplate = { type: 'ref/resource', uri: uri('page://{n}/x') } as const;
    const two = await client.complete({ ref: byTemplate, argument: { name: 'n', value: '7' } });
    expect(two.completion.values).toEqual(['7-a']);
  });

  test('is asked for models, forms and roots by several servers at once', async () => {
    const { client } = await connected(names, setup);
    const prefix = tool('x') === 'x' ? [''] : names.map((name) => `${name}_`);
    const results = await Promise.all(prefix.map((p) => client.callTool({ name: `${p}ask` })));
    expect(results.map(text)).toEqual(
      (prefix.length === 1 ? ['a'] : names).map((name) => `${name} m decline file:///r`),
    );
  });

  test('hears progress, and stops a call at its server', async () => {
    const { client } = await connected(names, setup);
    const controller = new AbortController();
    const progress: number[] = [];
    const slow = client.callTool({ name: tool('slow') }, undefined, {
      signal: controller.signal,
      onprogress: (report) => {
        progress.push(report.progress);
        if (report.progress === 2) controller.abort('enough');
      },
    });
    await expect(slow).rejects.toThrow('enough');
    expect(progress).toEqual([1, 2]);
    expect(await stopped.promise).toBe('a');
  });

  test('hears logs and updates of what it has subscribed to', async () => {
    const { client } = await connected(names, setup);
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data));
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri));
    await client.setLoggingLevel('error');
    await client.ping();
    await client.subscribeResource({ uri: uri('memo:note') });
    expect(subscribed).toEqual(['a memo:note']);
    await client.callTool({ name: tool('log') });
    expect(heard).toEqual(['a', uri('memo:note')]);
  });

  test('sees a new tool at once, although lists are kept', async () => {
    const { client, built } = await connected(names, setup);
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
    const before = await client.listTools();
    expect(await client.listTools()).toEqual(before);
    built.at(-1)?.registerTool('late', {}, () => ({ content: [] }));
    await changed.promise;
    expect((await client.listTools()).tools.length).toBe(before.tools.length + 1);
  });

  test('is told what does not exist', async () => {
    const { client } = await connected(names, setup);
    await expect(client.readResource({ uri: uri('memo:none') })).rejects.toThrow(/not found/);
    await expect(client.getPrompt({ name: 'zz_x' })).rejects.toThrow();
  });
});

describe('names without targets', () => {
  test('are looked up at real servers', async () => {
    const { client, built } = await connected(['a', 'b'], { prefixMode: 'never' });
    built[1]?.registerTool('mine', {}, () => ({ content: [{ type: 'text', text: 'b' }] }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mine']);
    expect((await client.callTool({ name: 'mine' })).content).toEqual([{ type: 'text', text: 'b' }]);
    await expect(client.callTool({ name: 'echo', arguments: { text: '' } })).rejects.toThrow(/served by multiple/);
    expect((await client.readResource({ uri: 'b+memo:note' })).contents).toEqual([{ uri: 'b+memo:note', text: 'b' }]);
  });
});
