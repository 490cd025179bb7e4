/** Streams that pass untranslated and break: the client is told in the events of its own protocol, unless it has it all. */
import type { Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../proxy/exchange/attributes.ts';
import { sse } from '../proxy/llm/translations/bridge.ts';
import { ask, Cleanup } from './gateway.ts';
import { completions, generateContent, lastError, type LlmClient, messages, responses } from './llm-clients.ts';
import { answering, facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Native {
  readonly client: LlmClient;
  readonly path: string;
  /** The answer up to its end, and its end. */
  readonly begin: readonly JsonObject[];
  readonly end: readonly (JsonObject | string)[];
}

const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const response = (status: string): JsonObject => ({ id: 'r', object: 'response', status, model: 'm', output: [] });
const candidate = (text: string, more: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
});

const natives: readonly Native[] = [
  {
    client: completions,
    path: completions.path,
    begin: [chunk({ role: 'assistant', content: 'Rain' })],
    end: [chunk({}, 'stop'), '[DONE]'],
  },
  {
    client: messages,
    path: messages.path,
    begin: [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain' } },
    ],
    end: [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
  },
  {
    client: responses,
    path: responses.path,
    begin: [
      { type: 'response.created', response: response('in_progress') },
      { type: 'response.output_text.delta', delta: 'Rain' },
    ],
    end: [{ type: 'response.completed', response: response('completed') }],
  },
  {
    client: generateContent,
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    begin: [candidate('Rain')],
    end: [candidate('.', { finishReason: 'STOP' })],
  },
];

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

async function serving({ client }: Native, answer: (socket: Socket) => void, more = '') {
  const service = await answering(cleanup, answer, '}');
  const gateway = await facing(
    cleanup,
    `frontendPolicies: {http: {streamIdleTimeout: 150ms}}
routes:
- policies: {ai: {routes: {"*": ${client.format}}}}
  backends: [{ai: {name: s, hostOverride: "127.0.0.1:${service.port}", pathPrefix: /v1,
    provider: {custom: {formats: [{type: ${client.format}}]}}, policies: {http: {version: HTTP/1.1}${more}}}}]`,
  );
  return { ...gateway, service };
}

/** Its only brace at the end is what the service waits for. */
function post(gateway: { http: number }, { client, path }: Native) {
  const body = JSON.stringify(client.body({ stream: true }));
  return ask(gateway.http, path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** Answers the first brace of a connection; a body has several. */
function once(answer: (socket: Socket) => void): (socket: Socket) => void {
  const answered = new WeakSet<Socket>();
  return (socket) => {
    if (answered.has(socket)) return;
    answered.add(socket);
    answer(socket);
  };
}

const ways: Readonly<Record<string, readonly [(socket: Socket, some: string) => void, RegExp]>> = {
  'is reset': [
    (socket, some) => socket.write(`${HEAD}${chunked(some)}`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    /was cut/,
  ],
  'is closed': [(socket, some) => socket.end(`${HEAD}${chunked(some)}`), /was cut/],
  'ends well before the answer does': [
    (socket, some) => socket.write(`${HEAD}${chunked(some)}0\r\n\r\n`),
    /ended before the answer was complete/,
  ],
  stalls: [(socket, some) => socket.write(`${HEAD}${chunked(some)}`), /nothing came for 150ms/],
  'breaks its framing': [(socket, some) => socket.write(`${HEAD}${chunked(some)}zz\r\n`), /was cut/],
};

describe.each(natives.map((native) => [native.client.format, native] as const))('a stream of %s that', (_, native) => {
  const { client, begin, end } = native;

  test.each(Object.entries(ways))('%s: ends with an error of the protocol', async (_way, [cut, says]) => {
    for (const some of [sse(begin), `${sse(begin)}data: {"half`]) {
      const gateway = await serving(
        native,
        once((socket) => cut(socket, some)),
      );
      const { status, body } = await post(gateway, native);
      expect([status, lastError(client, body)]).toEqual([200, expect.stringMatching(says)]);
      await nothingLeft(gateway);
    }
  });

  test.each(['is reset', 'is closed', 'stalls'] as const)('%s behind its end: is whole', async (way) => {
    const cut = ways[way]?.[0];
    const whole = sse([...begin, ...end]);
    const gateway = await serving(
      native,
      once((socket) => cut?.(socket, whole)),
    );
    expect((await post(gateway, native)).body).toBe(whole);
    await nothingLeft(gateway);
  });

  test('tells an error by itself: has no second one', async () => {
    const text = sse([...begin, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }]);
    const gateway = await serving(
      native,
      once((socket) => socket.end(`${HEAD}${chunked(text)}0\r\n\r\n`)),
    );
    expect((await post(gateway, native)).body).toBe(text);
  });

  test('breaks: counts against the service, and is told to the log', async () => {
    const gateway = await serving(
      native,
      once((socket) => socket.write(`${HEAD}${chunked(sse(begin))}0\r\n\r\n`)),
      ', health: {eviction: {duration: 1m}}',
    );
    await post(gateway, native);
    await gateway.logged('reason=UpstreamFailure', 'ended before the answer was complete');
    const dump = await (await fetch(`${gateway.admin}/config_dump`)).text();
    expect(dump).toMatch(/"timesEjected": ?1/);
  });
});
