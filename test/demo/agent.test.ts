import { SendMessageRequest, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterEach, describe, expect, test } from '@jest/globals';

import { userMessage } from '../e2e/a2a-agent.ts';
import { ask, Cleanup } from '../e2e/gateway.ts';
import { startDemo } from './demo.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function clientOf(base: string, version: string): Promise<Client> {
  const card = await new DefaultAgentCardResolver().resolve(`${base}/agent/`);
  expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([`${base}/agent/rpc`, `${base}/agent/rpc`]);
  const supportedInterfaces = card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === version);
  const transports = [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } })];
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

function message(text: string, taskId = '') {
  return { ...SendMessageRequest.fromJSON({}), message: userMessage(text, { taskId }) };
}

/** What an event of a stream says, in a word. */
function word({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case 'task':
    case 'statusUpdate':
      return TaskState[payload.value.status?.state ?? TaskState.UNRECOGNIZED];
    case 'artifactUpdate':
      return `artifact ${textIn(payload.value.artifact?.parts)}`;
    default:
      return payload?.$case ?? 'nothing';
  }
}

function textIn(parts: readonly { readonly content?: unknown }[] | undefined): string {
  return JSON.stringify(parts?.map(({ content }) => content));
}

describe.each(['1.0', '0.3'])('the agent of the demo, in version %s', (version) => {
  test('talks, works and fails, whole and as a stream', async () => {
    const { base } = await startDemo(cleanup);
    const client = await clientOf(base, version);
    expect(JSON.stringify(await client.sendMessage(message('hello')))).toContain('I plan tea parties');
    const done = await client.sendMessage(message('a tea party for 6'));
    expect(done).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(JSON.stringify(done)).toContain('6 cups, 2 teapots, 1 kettle');
    expect(await client.sendMessage(message('fail at a tea party'))).toMatchObject({
      status: { state: TaskState.TASK_STATE_FAILED },
    });
    const words: string[] = [];
    for await (const event of client.sendMessageStream(message('a tea party for 4'))) words.push(word(event));
    expect(words).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      expect.stringContaining('4 cups, 1 teapot, 1 kettle'),
      'TASK_STATE_COMPLETED',
    ]);
  });

  test('asks for what is missing, and goes on with the answer', async () => {
    const { base } = await startDemo(cleanup);
    const client = await clientOf(base, version);
    const waiting = await client.sendMessage(message('a tea party'));
    expect(waiting).toMatchObject({ status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } });
    const id = 'id' in waiting ? waiting.id : '';
    expect(await client.getTask({ tenant: '', id })).toMatchObject({ id });
    const done = await client.sendMessage(message('we are 9', id));
    expect(done).toMatchObject({ id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(JSON.stringify(done)).toContain('9 cups, 3 teapots');
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow();
    await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toThrow();
  });
});

test.each([
  ['no JSON', '{', -32_700],
  ['an array', '[]', -32_700],
  ['no method', '{"id":1}', -32_600],
  ['a method of another kind', '{"id":1,"method":7}', -32_600],
  ['an unknown method', '{"id":1,"method":"constructor"}', -32_601],
  ['no message', '{"id":1,"method":"SendMessage"}', -32_602],
  ['a message without words', '{"id":1,"method":"SendMessage","params":{"message":{"parts":[7,null]}}}', -32_602],
  ['a task that is not there', '{"id":1,"method":"GetTask","params":{"id":"x"}}', -32_001],
])('an agent that is sent %s says so', async (_, body, code) => {
  const demo = await startDemo(cleanup);
  const answer = await ask(demo.port(80), '/agent/rpc', { method: 'POST', body });
  expect([answer.status, JSON.parse(answer.body).error?.code]).toEqual([200, code]);
});
