import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';

import { eventually } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Event = Readonly<Record<string, unknown>>;

/** A realtime service that keeps what it hears and says what it is told to. */
async function service() {
  const heard: Event[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  let socket: WebSocket | null = null;
  sockets.on('connection', (opened) => {
    socket = opened;
    opened.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({
    close: () => {
      for (const each of sockets.clients) each.terminate();
      sockets.close();
      server.close();
    },
  });
  return {
    heard,
    // `as`: a TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    say: (...events: Event[]) => events.forEach((event) => socket?.send(JSON.stringify(event))),
  };
}

async function session(guards: string) {
  const model = await service();
  const gateway = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}
llm:
  models: [{name: m, provider: openAI, params: {baseUrl: "http://127.0.0.1:${model.port}/v1"}, guardrails: ${guards}}]
`,
    ),
  );
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port(80)}/v1/realtime?model=m`);
  cleanup.add({ close: () => socket.terminate() });
  const got: Event[] = [];
  socket.on('message', (data: Buffer) => got.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  return { model, got, socket, send: (event: Event) => socket.send(JSON.stringify(event)) };
}

const create = (...texts: string[]): Event => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: texts.map((text) => ({ type: 'input_text', text })) },
});

const at = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 };
const delta = (text: string): Event => ({ type: 'response.output_text.delta', ...at, delta: text });
const item = (text: string) => ({
  id: 'i',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const ending = (text: string): Event[] => [
  { type: 'response.output_text.done', ...at, text },
  { type: 'conversation.item.done', item: item(text) },
  { type: 'response.done', response: { id: 'r', output: [item(text)], usage: { input_tokens: 1, output_tokens: 1 } } },
];

const MASK = '{regex: {rules: [{builtin: ssn}]}}';
const REJECT = '{regex: {action: reject, rules: [{builtin: ssn}]}}';

describe('a realtime session', () => {
  test('has what users write masked, and nothing else touched', async () => {
    const { model, send } = await session(`{streaming: Enabled, request: [${MASK}]}`);
    const other = { type: 'session.update', session: { instructions: '123-45-6789' } };
    send(create('mine is', '123-45-6789'));
    send(other);
    send(create('fine'));
    await eventually('three events', () => model.heard.length === 3);
    expect(model.heard).toEqual([
      {
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'mine is <SSN>' }] },
      },
      other,
      create('fine'),
    ]);
  });

  test('goes on without a message that is rejected', async () => {
    const { model, got, send } = await session(`{streaming: Enabled, request: [${REJECT}]}`);
    send(create('123-45-6789'));
    send(create('fine'));
    await eventually('the next message', () => model.heard.length === 1);
    expect(model.heard).toEqual([create('fine')]);
    await eventually('the error', () => got.length === 1);
    expect(got).toEqual([
      {
        type: 'error',
        error: {
          type: 'guardrail_blocked',
          code: 'guardrail_intervention',
          message: 'The request was rejected due to inappropriate content',
        },
      },
    ]);
  });

  test('has what the model writes masked, wherever it is told', async () => {
    const { model, got } = await session(`{streaming: Enabled, response: [${MASK}]}`);
    model.say({ type: 'session.created', session: { model: 'm' } });
    for (let turn = 0; turn < 2; turn++) {
      model.say(...['it is 12', '3-45', '-6789', '!'].map(delta), ...ending('it is 123-45-6789!'));
    }
    await eventually('both answers', () => got.filter(({ type }) => type === 'response.done').length === 2);
    expect(JSON.stringify(got)).not.toContain('6789');
    const deltas = got.filter(({ type }) => type === 'response.output_text.delta').map((event) => event['delta']);
    expect(deltas.join('')).toBe('it is <SSN>!it is <SSN>!');
    expect(got.find(({ type }) => type === 'conversation.item.done')).toEqual({
      type: 'conversation.item.done',
      item: item('it is <SSN>!'),
    });
    expect(got[0]).toEqual({ type: 'session.created', session: { model: 'm' } });
  });

  test('has an answer cut that is rejected, and the next one whole', async () => {
    const { model, got } = await session(`{streaming: Enabled, response: [${REJECT}]}`);
    model.say(...['it is 12', '3-45', '-6789 ', 'and more'].map(delta));
    await eventually('the cancellation', () => model.heard.length === 1);
    expect(model.heard).toEqual([{ type: 'response.cancel' }]);
    model.say(...ending('it is 123-45-6789'), delta('next'), ...ending('next'));
    await eventually('the next answer', () => got.filter(({ type }) => type === 'response.done').length === 2);
    expect(JSON.stringify(got)).not.toContain('6789');
    expect(got.map(({ type }) => type)).toEqual([
      'response.output_text.delta',
      'error',
      'response.done',
      'response.output_text.delta',
      'response.output_text.done',
      'conversation.item.done',
      'response.done',
    ]);
  });

  test('passes untouched where streams are not looked at', async () => {
    const { model, got } = await session(`{response: [${MASK}]}`);
    model.say(delta('123-45-6789'));
    await eventually('the event', () => got.length === 1);
    expect(got).toEqual([delta('123-45-6789')]);
  });

  test('ends where a message is larger than what is held', async () => {
    const { socket, send } = await session(`{streaming: Enabled, request: [${MASK}]}`);
    const closed = once(socket, 'close');
    socket.on('error', () => {});
    send(create('x'.repeat(3 * 1024 * 1024)));
    await closed;
  });
});
