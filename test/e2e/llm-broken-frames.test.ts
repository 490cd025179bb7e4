/** Streams of Bedrock that pass as they are and break: the vendor's own client throws, unless it has it all. */
import type { ServerResponse } from 'node:http';

import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterEach, describe, expect, test } from '@jest/globals';

import { awsEvent, awsException } from '../proxy/llm/aws-frames.ts';
import { Cleanup, upstream } from './gateway.ts';
import { facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const begin = Buffer.concat([
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Rain' } }),
]);
const stop = Buffer.from(awsEvent('messageStop', { stopReason: 'end_turn' }));
const type = { 'content-type': 'application/vnd.amazon.eventstream' };

async function conversing(answer: (response: ServerResponse) => void) {
  const service = cleanup.add(
    await upstream((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, type);
        answer(response);
      });
    }),
  );
  const gateway = await facing(
    cleanup,
    `frontendPolicies: {http: {streamIdleTimeout: 150ms}}
routes:
- policies: {ai: {routes: {"*": detect}}}
  backends: [{ai: {name: s, hostOverride: "127.0.0.1:${service.port}", provider: {bedrock: {region: us-east-1}},
    policies: {backendAuth: {aws: {accessKeyId: a, secretAccessKey: s}}}}}]`,
  );
  const client = new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${gateway.http}`,
    credentials: { accessKeyId: 'a', secretAccessKey: 's' },
    maxAttempts: 1,
  });
  cleanup.add({ close: () => client.destroy() });
  const messages = [{ role: 'user' as const, content: [{ text: 'hi' }] }];
  let said = '';
  let error: unknown = null;
  try {
    const { stream = [] } = await client.send(new ConverseStreamCommand({ modelId: 'm', messages }));
    for await (const event of stream) said += event.contentBlockDelta?.delta?.text ?? '';
  } catch (thrown) {
    error = thrown;
  }
  return { gateway, said, error };
}

describe('a stream of Bedrock that', () => {
  const ways: Readonly<Record<string, readonly [(response: ServerResponse) => void, RegExp]>> = {
    'is reset': [
      (response) => response.write(begin, () => setTimeout(() => response.socket?.resetAndDestroy(), 20)),
      /reset/,
    ],
    'ends before the answer does': [(response) => response.end(begin), /ended before the answer was complete/],
    stalls: [(response) => response.write(begin), /nothing came for 150ms/],
  };

  test.each(Object.entries(ways))('%s: is an exception to its client', async (_way, [cut, says]) => {
    const { gateway, said, error } = await conversing(cut);
    expect([said, error]).toEqual(['Rain', expect.objectContaining({ name: 'ModelStreamErrorException' })]);
    expect(error).toMatchObject({ message: expect.stringMatching(says) });
    await gateway.logged('reason=UpstreamFailure');
    await nothingLeft(gateway);
  });

  test('is cut inside a frame: is a failure all the same', async () => {
    const half = Buffer.concat([begin, stop.subarray(0, 20)]);
    const { said, error } = await conversing((response) => {
      response.write(half, () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
    });
    expect([said, error]).toEqual(['Rain', expect.anything()]);
  });

  test('is reset behind its end, or ends well: is whole', async () => {
    const whole = Buffer.concat([begin, stop]);
    const reset = await conversing((response) => {
      response.write(whole, () => setTimeout(() => response.socket?.resetAndDestroy(), 20));
    });
    expect([reset.said, reset.error]).toEqual(['Rain', null]);
    const ended = await conversing((response) => response.end(whole));
    expect([ended.said, ended.error]).toEqual(['Rain', null]);
  });

  test('tells an exception by itself: has no second one', async () => {
    const fault = Buffer.from(awsException('throttlingException', 'Slow down'));
    const { error } = await conversing((response) => response.end(Buffer.concat([begin, fault])));
    expect(error).toMatchObject({ name: 'ThrottlingException' });
  });
});
