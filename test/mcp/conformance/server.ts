/** A server that has what the public conformance suite asks for: `node server.ts` prints `listening PORT`. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport, type EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  type CallToolResult,
  type JSONRPCMessage,
} from '@modelcontextprotocol/sdk/types.js';
import { contents, forms, messages, prompts, read, resources, resourceTemplates, tools } from './features.ts';

/** Events of streams that were cut, for clients that come back. */
class KeptEvents implements EventStore {
  readonly #events: { readonly id: string; readonly stream: string; readonly message: JSONRPCMessage }[] = [];

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}_${this.#events.length}`;
    this.#events.push({ id, stream, message });
    return Promise.resolve(id);
  }

  async replayEventsAfter(
    last: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const at = this.#events.findIndex(({ id }) => id === last);
    const stream = this.#events[at]?.stream ?? '';
    for (const event of this.#events.slice(at + 1))
      if (event.stream === stream && 'jsonrpc' in event.message && Object.keys(event.message).length > 1)
        await send(event.id, event.message);
    return stream;
  }
}

function conformant(): Server {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: structuredClone(tools) as never }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra): Promise<CallToolResult> => {
    const known = contents[params.name];
    if (known !== undefined) return { content: known as never };
    const said = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
    switch (params.name) {
      case 'test_error_handling':
        return {
          isError: true,
          content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
        };
      case 'test_tool_with_logging':
        for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
          await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
          await sleep(50);
        }
        return said('Logged.');
      case 'test_tool_with_progress': {
        const progressToken = extra._meta?.progressToken;
        for (const progress of [0, 50, 100]) {
          if (progressToken !== undefined)
            await extra.sendNotification({
              method: 'notifications/progress',
              params: { progressToken, progress, total: 100 },
            });
          await sleep(50);
        }
        return said(String(progressToken));
      }
      case 'test_sampling': {
        const asked = { role: 'user', content: { type: 'text', text: String(params.arguments?.['prompt']) } } as const;
        const request = { method: 'sampling/createMessage', params: { messages: [asked], maxTokens: 100 } } as const;
        const { content } = await extra.sendRequest(request, CreateMessageResultSchema);
        return said(`LLM response: ${'text' in content ? content.text : ''}`);
      }
      case 'test_elicitation':
      case 'test_elicitation_sep1034_defaults':
      case 'test_elicitation_sep1330_enums': {
        const message = String(params.arguments?.['message'] ?? 'Please fill this in.');
        const request = {
          method: 'elicitation/create',
          params: { message, requestedSchema: forms[params.name] },
        } as const;
        const { action, content } = await extra.sendRequest(request as never, ElicitResultSchema);
        return said(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
      }
      case 'test_reconnection':
        await sleep(50);
        extra.closeSSEStream?.();
        await sleep(100);
        return said('Reconnected.');
      default:
        throw new Error(`there is no tool ${params.name}`);
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    const found = read(uri);
    if (found === undefined) throw new Error(`there is no resource ${uri}`);
    return { contents: [found as never] };
  });
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const found = messages(params.name, params.arguments ?? {});
    if (found === undefined) throw new Error(`there is no prompt ${params.name}`);
    return { messages: found as never };
  });
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  return server;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id'];
  const known = sessions.get(String(id));
  if (known !== undefined) return known.handleRequest(request, response);
  if (id !== undefined) return void response.writeHead(404).end();
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    eventStore: new KeptEvents(),
    retryInterval: 500,
    onsessioninitialized: (session) => void sessions.set(session, transport),
    onsessionclosed: (session) => void sessions.delete(session),
    enableDnsRebindingProtection: true,
    allowedHosts: ['localhost', '127.0.0.1'].flatMap((host) => [host, `${host}:${port()}`]),
  });
  // `as`: the library's own types differ in what may be undefined.
  await conformant().connect(transport as never);
  return transport.handleRequest(request, response);
}

const http = createServer((request, response) => void serve(request, response));
http.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${port()}\n`));

function port(): number {
  // `as`: a TCP server has such an address.
  return (http.address() as AddressInfo).port;
}
