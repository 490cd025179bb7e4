import { describe, expect, test } from '@jest/globals';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  Client as BothClient,
  SSEClientTransport as BothSse,
  StreamableHTTPClientTransport as BothStreamable,
} from '@modelcontextprotocol/client';

import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import type { RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import { versionsOf } from '../../../../proxy/mcp/message/versions.ts';
import type { CallSink } from '../../../../proxy/mcp/targets/contract.ts';
import { harness, type Harness } from './harness.ts';

const info = { name: 'test', version: '1' };
const tool = { name: 'echo', description: 'Says it again', inputSchema: { type: 'object' } };
const serverInfo = { name: 'scripted', version: '1' };
const capabilities = { tools: { listChanged: true } };

interface Scripted extends Harness {
  /** Answers the call whose progress has been seen: the SDKs forget who waits for progress when the answer is there. */
  finish: () => void;
}

/** A server with one tool that reports progress, asks the model of the client, and repeats what it said. */
async function scripted(): Promise<Scripted> {
  const gw = await harness();
  const made: Scripted = Object.assign(gw, { finish: () => {} });
  const { session } = gw;
  let asking: { readonly request: RpcRequest; readonly sink: CallSink } | null = null;
  session.onRequest = (request, sink) => {
    const { id, method, params } = request;
    const result = (value: JsonObject): void => {
      sink.onMessage({ kind: 'result', id, result: value });
      sink.onEnd(null);
    };
    const failure = (code: number, message: string): void =>
      sink.onMessage({ kind: 'error', id, error: { code, message } });
    switch (method) {
      case 'initialize':
        session.id = 'of the client';
        return result({ protocolVersion: '2025-06-18', capabilities, serverInfo });
      case 'server/discover':
        return result({
          resultType: 'complete',
          ttlMs: 0,
          cacheScope: 'private',
          supportedVersions: [...versionsOf('modern')],
          capabilities,
          serverInfo,
        });
      case 'tools/list':
        return result({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [tool] });
      case 'tools/call': {
        const args = params?.['arguments'];
        if (params?.['name'] !== 'echo') return failure(-32_602, `Unknown tool: ${String(params?.['name'])}`);
        if (isJsonObject(args) && args['silent'] === true) return;
        const meta = params['_meta'];
        const progressToken = isJsonObject(meta) ? meta['progressToken'] : undefined;
        const said = { resultType: 'complete', content: [{ type: 'text', text: 'said' }] };
        if (progressToken !== undefined) {
          made.finish = () => result(said);
          return sink.onMessage({
            kind: 'notification',
            method: 'notifications/progress',
            params: { progressToken, progress: 1 },
          });
        }
        if (!isJsonObject(args) || args['ask'] !== true) return result(said);
        asking = { request, sink };
        const asked = { messages: [], maxTokens: 5 };
        return sink.onMessage({ kind: 'request', id: 'gw_0_n_1', method: 'sampling/createMessage', params: asked });
      }
      default:
        return failure(-32_601, 'Method not found');
    }
  };
  session.onPost = (message) => {
    if (message.kind !== 'result' || asking === null) return null;
    const { request, sink } = asking;
    sink.onMessage({
      kind: 'result',
      id: request.id,
      result: { content: [{ type: 'text', text: JSON.stringify(message.result['content']) }] },
    });
    return null;
  };
  return made;
}

const sseUrl = ({ url }: Harness): URL => new URL('/sse', url);

const transports: [string, (gw: Harness) => StreamableHTTPClientTransport | SSEClientTransport][] = [
  ['streamable HTTP', (gw) => new StreamableHTTPClientTransport(gw.url)],
  ['server-sent events', (gw) => new SSEClientTransport(sseUrl(gw))],
];

describe.each(transports)('the legacy SDK over %s', (_name, transportOf) => {
  async function connected(gw: Harness): Promise<LegacyClient> {
    const client = new LegacyClient(info, { capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'forty-two' },
    }));
    await client.connect(transportOf(gw));
    return client;
  }

  test('lists and calls tools, and hears of progress', async () => {
    await using gw = await scripted();
    const client = await connected(gw);
    expect(client.getServerVersion()).toEqual(serverInfo);
    expect((await client.listTools()).tools).toMatchObject([tool]);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => {
      seen.push(progress);
      gw.finish();
    };
    const called = await client.callTool({ name: 'echo' }, undefined, { onprogress });
    expect(called.content).toEqual([{ type: 'text', text: 'said' }]);
    expect(seen).toEqual([1]);
    await client.close();
    await gw.idle();
  });

  test('is asked by the server, and answers', async () => {
    await using gw = await scripted();
    const client = await connected(gw);
    const called = await client.callTool({ name: 'echo', arguments: { ask: true } });
    expect(JSON.stringify(called.content)).toContain('forty-two');
    await client.close();
    await gw.idle();
  });

  test('gets errors as errors', async () => {
    await using gw = await scripted();
    const client = await connected(gw);
    const failed: unknown = await client.callTool({ name: 'rm' }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(McpError);
    expect(failed).toMatchObject({ code: -32_602, message: expect.stringContaining('Unknown tool: rm') });
    await client.close();
    await gw.idle();
  });

  test('hears what servers say by themselves', async () => {
    await using gw = await scripted();
    const opened = new Promise<void>((resolve) => {
      gw.session.onListen = (sink) => {
        sink.onOpen?.();
        resolve();
      };
    });
    const client = await connected(gw);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await opened;
    gw.session.listener?.onMessage({
      kind: 'notification',
      method: 'notifications/tools/list_changed',
      params: undefined,
    });
    await changed;
    await client.close();
    await gw.idle();
    expect(gw.session.notes).toContain('cancelled listen');
  });

  test('gives up a call', async () => {
    await using gw = await scripted();
    const client = await connected(gw);
    const told = new Promise<void>((resolve) => {
      gw.session.onPost = (message) => {
        if (message.kind === 'notification' && message.method === 'notifications/cancelled') resolve();
        return null;
      };
    });
    const called = client.callTool({ name: 'echo', arguments: { silent: true } }, undefined, {
      signal: AbortSignal.timeout(50),
    });
    await expect(called).rejects.toThrow();
    await told;
    await client.close();
    await gw.idle();
    expect(gw.session.notes).toContain('cancelled tools/call');
  });
});

test('the legacy SDK ends its session', async () => {
  await using gw = await scripted();
  const client = new LegacyClient(info);
  const transport = new StreamableHTTPClientTransport(gw.url);
  await client.connect(transport);
  expect(transport.sessionId).toBe('of the client');
  await transport.terminateSession();
  expect(gw.session.notes).toContain('closed');
  expect(gw.session.calls.at(-1)).toMatchObject({ era: 'legacy', version: '2025-06-18' });
  await client.close();
  await gw.idle();
});

test('the legacy SDK learns that its session is gone', async () => {
  await using gw = await scripted();
  const client = new LegacyClient(info);
  await client.connect(new StreamableHTTPClientTransport(gw.url));
  gw.session.id = 'another';
  await expect(client.listTools()).rejects.toMatchObject({ code: 404 });
  await client.close();
  await gw.idle();
});

describe('the SDK of both generations', () => {
  const text = [{ type: 'text', text: 'said' }];

  test.each<[string, (gw: Harness) => BothStreamable | BothSse]>([
    ['streamable HTTP', (gw) => new BothStreamable(gw.url)],
    ['server-sent events', (gw) => new BothSse(sseUrl(gw))],
  ])('speaks the legacy version over %s', async (_name, transportOf) => {
    await using gw = await scripted();
    const client = new BothClient(info);
    await client.connect(transportOf(gw));
    expect((await client.listTools()).tools).toMatchObject([tool]);
    expect((await client.callTool({ name: 'echo' })).content).toEqual(text);
    await client.close();
    await gw.idle();
  });

  test('asks for the modern version over server-sent events, and is told in time that these are older', async () => {
    await using gw = await scripted();
    const client = new BothClient(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new BothSse(sseUrl(gw)));
    expect((await client.listTools()).tools).toMatchObject([tool]);
    await client.close();
    await gw.idle();
  });

  test('speaks the modern version, without sessions', async () => {
    await using gw = await scripted();
    const client = new BothClient(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new BothStreamable(gw.url));
    const seen: number[] = [];
    expect((await client.listTools()).tools).toMatchObject([tool]);
    const onprogress = ({ progress }: { progress: number }): void => {
      seen.push(progress);
      gw.finish();
    };
    const called = await client.callTool({ name: 'echo' }, { onprogress });
    expect(called.content).toEqual(text);
    expect(seen).toEqual([1]);
    await expect(client.callTool({ name: 'größe' })).rejects.toThrow('Unknown tool: größe');
    expect(new Set(gw.sessions.asked)).toEqual(new Set(['alone']));
    for (const call of gw.session.calls) expect(call).toMatchObject({ era: 'modern', version: '2026-07-28' });
    await client.close();
    await gw.idle();
  });

  test.each([
    [
      'an error',
      (sink: CallSink, id: RpcRequest['id']) =>
        sink.onMessage({ kind: 'error', id, error: { code: -32_601, message: 'no' } }),
    ],
    [
      'a refused version',
      (sink: CallSink, id: RpcRequest['id']) =>
        sink.onMessage({
          kind: 'error',
          id,
          error: { code: -32_022, message: 'no', data: { supported: ['2025-06-18'], requested: '2026-07-28' } },
        }),
    ],
  ])('falls back to the legacy version after %s', async (_name, answer) => {
    await using gw = await scripted();
    const { onRequest } = gw.session;
    gw.session.onRequest = (request, sink) =>
      request.method === 'server/discover' ? answer(sink, request.id) : onRequest(request, sink);
    const client = new BothClient(info, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new BothStreamable(gw.url));
    expect((await client.listTools()).tools).toMatchObject([tool]);
    expect(gw.sessions.asked.slice(0, 2)).toEqual(['alone', 'begin']);
    await client.close();
    await gw.idle();
  });
});
