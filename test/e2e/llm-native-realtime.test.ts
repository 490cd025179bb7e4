import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'undici';

import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup } from './gateway.ts';
import { nothingWrong, openai, simulating, told } from './native-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gatewayTo } = simulating(cleanup);

describe('a realtime session', () => {
  async function session(
    url: string,
    model: string,
  ): Promise<{ socket: WebSocket; events: Record<string, unknown>[] }> {
    const events: Record<string, unknown>[] = [];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?model=${model}`);
    cleanup.add({ close: () => socket.close() });
    socket.addEventListener('message', ({ data }) => events.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    return { socket, events };
  }

  test('passes both ways, and is counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { socket, events } = await session(url, 'gpt-realtime');
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello you' }] };
    socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
    for (const answers of [1, 2]) {
      socket.send(JSON.stringify({ type: 'response.create' }));
      await eventually(
        `answer ${answers}`,
        () => events.filter(({ type }) => type === 'response.done').length === answers,
      );
    }
    socket.close();
    const line = await told(gateway, 'gen_ai.usage.input_tokens=24');
    expect(line).toContain('gen_ai.request.model=gpt-realtime');
    expect(line).toContain('gen_ai.usage.output_tokens=6');
    const [request] = simulated.requests;
    expect(request?.target).toBe('/v1/realtime?model=gpt-realtime');
    expect(request?.headers).toMatchObject({ authorization: 'Bearer sk-gateway' });
    expect(request?.headers).not.toHaveProperty('sec-websocket-extensions');
    nothingWrong(simulated);
  });

  test('has the model that the configuration names', async () => {
    const { simulated, url } = await gatewayTo({ ...openai, provider: '{openAI: {model: gpt-realtime-mini}}' });
    await session(url, 'mine');
    expect(simulated.requests[0]?.target).toBe('/v1/realtime?model=gpt-realtime-mini');
  });

  test('that the service refuses is refused as it was', async () => {
    const { gateway, port, simulated } = await gatewayTo({ ...openai, auth: '' });
    const client = cleanup.add(new RawClient(port));
    client.write(
      'GET /v1/realtime?model=m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await client.until((text) => text.startsWith('HTTP/1.1 401 '));
    expect(simulated.requests).toHaveLength(1);
    await told(gateway, 'http.status=401', 'gen_ai.request.model=m');
  });

  test('ends on both sides with either of them, and is counted up to there', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { socket, events } = await session(url, 'gpt-realtime');
    socket.send(JSON.stringify({ type: 'response.create' }));
    await eventually('an answer', () => events.some(({ type }) => type === 'response.done'));
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    await simulated.close();
    await closed;
    await told(gateway, 'gen_ai.usage.input_tokens=10');
  });

  test('is not there where the provider has none', async () => {
    const { port } = await gatewayTo({ vendor: 'anthropic', provider: '{anthropic: {}}' });
    const answer = await ask(port, '/v1/realtime?model=m');
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('cannot take Realtime requests')]);
  });
});
