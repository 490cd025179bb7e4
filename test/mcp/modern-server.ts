/** A server of the modern versions that has one of everything, made of the public SDK: over HTTP, or as a program. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';

import {
  acceptedContent,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  type InputResponseView,
  type McpHttpHandler,
  McpServer,
  ProtocolError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import type { RunningServer } from './everything.ts';

/** Tells everybody who has subscribed of changes. */
export interface Changes {
  tools(): void;
  resource(uri: string): void;
}

export const NOTE = 'memo:note';
const PAGE = 2;
const state = createRequestStateCodec<{ round: number }>({ key: new Uint8Array(32) });
const text = (said: string): { type: 'text'; text: string } => ({ type: 'text', text: said });
const wholes = {
  type: 'object' as const,
  properties: { name: { type: 'string' as const } },
  required: ['name'],
};

export function modernServer(changes: Changes): McpServer {
  const server = new McpServer(
    { name: 'modern', version: '3.2.1', title: 'The modern one' },
    {
      instructions: 'Ask plainly.',
      capabilities: {
        logging: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        extensions: { 'test.example/colours': { shades: 3 } },
      },
      cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
      requestState: { verify: (sent, context) => state.verify(sent, context) },
    },
  );
  addTools(server);
  addQuestions(server);
  addChanges(server, changes);
  addPrompts(server);
  addResources(server);
  return server;
}

function addTools(server: McpServer): void {
  const said = z.object({ text: z.string() });
  server.registerTool('echo', { description: 'Says it again', inputSchema: said }, (input) => ({
    content: [text(input.text)],
  }));
  server.registerTool(
    'structured',
    { inputSchema: z.object({ of: z.string() }), outputSchema: z.object({ of: z.string(), length: z.number() }) },
    ({ of }) => ({ content: [text(of)], structuredContent: { of, length: of.length } }),
  );
  server.registerTool('meta', { inputSchema: z.object({}) }, (_input, { mcpReq }) => ({
    content: [text(JSON.stringify(mcpReq._meta?.['test.example/colour'] ?? null))],
    _meta: { 'test.example/answered': true },
  }));
  server.registerTool('fail', { inputSchema: z.object({}) }, () => ({ content: [text('it failed')], isError: true }));
  server.registerTool('refuse', { inputSchema: z.object({}) }, () => {
    throw new ProtocolError(-32_050, 'refused', { why: 'because' });
  });
  server.registerTool('steps', { inputSchema: z.object({ to: z.number() }) }, async ({ to }, { mcpReq }) => {
    for (let progress = 1; progress <= to; progress++) await report(mcpReq, progress, to);
    return { content: [text(`${to}`)] };
  });
  server.registerTool('endless', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
    for (const progress of [1, 2, 3]) await report(mcpReq, progress, 4);
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    return { content: [] };
  });
  server.registerTool('log', { inputSchema: z.object({}) }, async (_input, { mcpReq }) => {
    await mcpReq.log('debug', 'fine print', 'here');
    await mcpReq.log('warning', 'mind the gap', 'here');
    return { content: [text('logged')] };
  });
  const region = z.string().meta({ 'x-mcp-header': 'Region' });
  server.registerTool('where', { inputSchema: z.object({ region }) }, (input) => ({ content: [text(input.region)] }));
  server.registerTool('links', { inputSchema: z.object({}) }, () => ({
    content: [
      { type: 'resource_link', uri: NOTE, name: 'note' },
      { type: 'resource', resource: { uri: NOTE, text: 'a note' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }));
}

async function report(mcpReq: ServerContext['mcpReq'], progress: number, total: number): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total, message: 'on' } });
}

/** Tools that need to know something of the client first. */
function addQuestions(server: McpServer): void {
  const nothing = { inputSchema: z.object({}) };
  server.registerTool('ask', nothing, (_input, { mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'who');
    if (view.kind !== 'missing') return { content: [text(JSON.stringify(view))] };
    const who = inputRequired.elicit({ message: 'Who are you?', requestedSchema: wholes });
    return inputRequired({ inputRequests: { who } });
  });
  server.registerTool('ask-by-address', nothing, (_input, { mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'page');
    if (view.kind !== 'missing') return { content: [text(JSON.stringify(view))] };
    const page = inputRequired.elicitUrl({ message: 'Look here', url: 'https://here.test/' });
    return inputRequired({ inputRequests: { page } });
  });
  server.registerTool('ask-all', nothing, (_input, { mcpReq }) => {
    const answers = ['sample', 'roots', 'who'].map((key) => inputResponse(mcpReq.inputResponses, key));
    if (answers.every(({ kind }) => kind !== 'missing')) return { content: answers.map((each) => text(shortly(each))) };
    const messages = [{ role: 'user', content: text('hi') } as const];
    return inputRequired({
      inputRequests: {
        sample: inputRequired.createMessage({ messages, maxTokens: 5 }),
        roots: inputRequired.listRoots(),
        who: inputRequired.elicit({ message: 'Who are you?', requestedSchema: wholes }),
      },
    });
  });
  server.registerTool('ask-thrice', nothing, async (_input, context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    const heard = acceptedContent(context.mcpReq.inputResponses, `q${round}`);
    if (round === 3) return { content: [text(JSON.stringify(heard))] };
    const question = inputRequired.elicit({ message: `Question ${round + 1}`, requestedSchema: wholes });
    return inputRequired({
      inputRequests: { [`q${round + 1}`]: question },
      requestState: await state.mint({ round: round + 1 }),
    });
  });
  server.registerTool('again', nothing, async (_input, context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round > 0) return { content: [text(`round ${round}`)] };
    return inputRequired({ requestState: await state.mint({ round: 1 }) });
  });
  server.registerPrompt('ask', { description: 'Needs a name' }, (context) => {
    const name = acceptedContent(context.mcpReq.inputResponses, 'who')?.['name'];
    if (name !== undefined) return { messages: [{ role: 'user', content: text(`I am ${String(name)}`) }] };
    const who = inputRequired.elicit({ message: 'Who asks?', requestedSchema: wholes });
    return inputRequired({ inputRequests: { who } });
  });
}

function shortly(answer: InputResponseView): string {
  if (answer.kind === 'sampling') return answer.result.model;
  return answer.kind === 'roots' ? answer.roots.map(({ uri }) => uri).join() : JSON.stringify(answer);
}

function addChanges(server: McpServer, changes: Changes): void {
  server.registerTool('change', { inputSchema: z.object({}) }, () => {
    changes.tools();
    changes.resource(NOTE);
    return { content: [text('changed')] };
  });
}

function addPrompts(server: McpServer): void {
  const city = completable(z.string(), (value) => ['Paris', 'Prague', 'Rome'].filter((each) => each.startsWith(value)));
  const street = completable(z.string().optional(), (value, context) => [`${context?.arguments?.['city']} ${value}`]);
  server.registerPrompt('travel', { title: 'Travel', argsSchema: z.object({ city, street }) }, ({ city: to }) => ({
    messages: [{ role: 'user', content: text(`Go to ${to}`) }],
  }));
}

function addResources(server: McpServer): void {
  const hint = { cacheHint: { ttlMs: 1000, cacheScope: 'public' } } as const;
  server.registerResource('note', NOTE, { mimeType: 'text/plain', ...hint }, ({ href }) => ({
    contents: [{ uri: href, text: 'a note' }],
  }));
  server.registerResource('blob', 'memo:blob', {}, ({ href }) => ({ contents: [{ uri: href, blob: 'AAAA' }] }));
  for (const at of ['a', 'b', 'c'])
    server.registerResource(at, `memo:more/${at}`, {}, ({ href }) => ({ contents: [{ uri: href, text: at }] }));
  const numbers = new ResourceTemplate('memo:number/{n}', {
    list: undefined,
    complete: { n: (value) => [`${value}1`, `${value}2`] },
  });
  server.registerResource('number', numbers, {}, ({ href }, { n }) => ({
    contents: [{ uri: href, text: `${String(n)}` }],
  }));
  pageResources(server);
}

/** The SDK lists all at once. */
function pageResources({ server }: McpServer): void {
  const uris = [NOTE, 'memo:blob', 'memo:more/a', 'memo:more/b', 'memo:more/c'];
  server.setRequestHandler('resources/list', ({ params }) => {
    const from = Number(params?.cursor ?? 0);
    if (!Number.isInteger(from) || from >= uris.length) throw new ProtocolError(-32_602, 'no such page');
    const resources = uris.slice(from, from + PAGE).map((uri) => ({ uri, name: uri }));
    return from + PAGE < uris.length ? { resources, nextCursor: String(from + PAGE) } : { resources };
  });
}

/** Speaks the modern versions alone, or also the others, as far as one can without sessions. */
export async function startModern(legacy: 'reject' | 'stateless' = 'reject'): Promise<RunningServer> {
  const handler = createMcpHandler(
    () =>
      modernServer({
        tools: () => handler.notify.toolsChanged(),
        resource: (uri) => handler.notify.resourceUpdated(uri),
      }),
    { legacy },
  );
  const server = createServer((incoming, outgoing) => {
    const abort = new AbortController();
    outgoing.on('close', () => abort.abort());
    const init = {
      method: incoming.method ?? 'GET',
      headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
      signal: abort.signal,
      ...(incoming.method === 'POST' ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    };
    // `as`: the types of Node and of the web name the same streams.
    const request = new Request(`http://here.test${incoming.url ?? ''}`, init as unknown as RequestInit);
    void answer(handler, request, outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: a TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(handler: McpHttpHandler, request: Request, outgoing: ServerResponse): Promise<void> {
  const response = await handler.fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  // `as`: two names of one kind of stream. Who has left does not hear the end.
  else await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(() => undefined);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  serveStdio(
    () => {
      const server: McpServer = modernServer({
        tools: () => server.sendToolListChanged(),
        resource: (uri) => void server.server.sendResourceUpdated({ uri }),
      });
      return server;
    },
    { legacy: process.argv[2] === 'modern' ? 'reject' : 'serve' },
  );
}
