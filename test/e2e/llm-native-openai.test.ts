import { afterEach, describe, expect, test } from '@jest/globals';

import { clients } from '../llm/clients.ts';
import { eventually } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { nothingWrong, openai, simulating, told } from './native-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gatewayTo } = simulating(cleanup);

describe("OpenAI's client with OpenAI", () => {
  test('chats, with the key of the gateway', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const answer = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hello there' }],
      max_tokens: 9,
    });
    expect(answer.choices[0]?.message.content).toBe('echo: hello there');
    expect(simulated.requests[0]).toMatchObject({
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-gateway' },
      body: { max_completion_tokens: 9 },
    });
    const line = await told(gateway, 'gen_ai.usage.input_tokens=12');
    expect(line).toContain('gen_ai.usage.output_tokens=3');
    expect(line).toContain('gen_ai.provider.name=openai');
    nothingWrong(simulated);
  });

  test('streams, and the usage that the client did not ask for is counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const stream = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '@count 50' }],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text.trim().split(' ')).toHaveLength(50);
    expect(simulated.requests[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
    await told(gateway, 'gen_ai.usage.output_tokens=50');
    nothingWrong(simulated);
  });

  test('calls tools, several at once, and answers them', async () => {
    const { simulated, url } = await gatewayTo(openai);
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const asked = { role: 'user' as const, content: '@call look {"at":1}\n@call look {"at":2}' };
    const first = await clients
      .openai(url)
      .chat.completions.stream({ model: 'gpt-4o', messages: [asked], tools })
      .finalChatCompletion();
    const message = first.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    const second = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      tools,
      messages: [
        asked,
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, function: called }) => ({
            id,
            type: 'function' as const,
            function: { name: called.name, arguments: called.arguments },
          })),
        },
        ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: `saw ${id}` })),
      ],
    });
    expect(second.choices[0]?.message.content).toBe('tools said: saw call_1 | saw call_2');
    nothingWrong(simulated);
  });

  test('has responses, whole and streamed', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const input = '@think hard\n@say fine';
    expect((await clients.openai(url).responses.create({ model: 'gpt-5', input })).output_text).toBe('fine');
    const streamed = await clients.openai(url).responses.stream({ model: 'gpt-5', input }).finalResponse();
    expect(streamed.output_text).toBe('fine');
    await told(gateway, 'gen_ai.usage.reasoning_tokens=1');
    nothingWrong(simulated);
  });

  test('has embeddings; lists of models are made elsewhere', async () => {
    const { simulated, url, port } = await gatewayTo(openai);
    const { data } = await clients.openai(url).embeddings.create({ model: 'text-embedding-3-small', input: 'a b' });
    expect(data[0]?.embedding).toHaveLength(8);
    const models = await ask(port, '/v1/models');
    expect([models.status, models.body]).toEqual([501, '{"error":"Route \'Models\' not implemented"}']);
    nothingWrong(simulated);
  });

  test('has images as they come, and their tokens are counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { data } = await clients.openai(url).images.generate({ model: 'gpt-image-1', prompt: 'a red fox' });
    expect(data?.[0]?.b64_json).toBe('aW1hZ2U=');
    const line = await told(gateway, 'gen_ai.usage.output_tokens=100');
    expect(line).toContain('gen_ai.request.model=gpt-image-1');
    nothingWrong(simulated);
  });

  test('sends forms of any size through, as they are', async () => {
    const seen: { type?: string; bytes: number }[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.byteLength));
        request.on('end', () => {
          seen.push({ type: String(request.headers['content-type']), bytes });
          response.end('{}');
        });
      }),
    );
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai: {name: o, provider: {openAI: {}}, hostOverride: "127.0.0.1:${server.port}", policies: {ai: {routes: {"*": detect}}}}
`),
    );
    const form = {
      method: 'POST',
      body: Buffer.alloc(3_000_000),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    };
    expect((await ask(running.port(80), '/v1/images/edits', form)).status).toBe(200);
    expect(seen).toEqual([{ type: 'multipart/form-data; boundary=x', bytes: 3_000_000 }]);
    const json = { ...form, headers: { 'content-type': 'application/json' } };
    expect((await ask(running.port(80), '/v1/images/edits', json)).status).toBe(413);
  });

  test('gets what nobody understands as it is', async () => {
    const { simulated, port } = await gatewayTo(openai);
    const answer = await ask(port, '/v1/files?limit=1', { method: 'POST', body: 'no JSON' });
    expect(answer.status).toBe(400);
    expect(simulated.requests[0]?.target).toBe('/v1/files?limit=1');
    expect(simulated.requests[0]?.headers.authorization).toBe('Bearer sk-gateway');
  });

  test.each([
    ['@error 429 retry-after: 7', 429],
    ['@error 500', 500],
    ['@error 404', 404],
  ])('fails as the service does: %s', async (content, status) => {
    const { simulated, url } = await gatewayTo(openai);
    const stream = clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }], stream: true });
    const message = `simulated error ${status}`;
    await expect(stream).rejects.toMatchObject({ status, error: { message } });
    nothingWrong(simulated);
  });

  test('is told when a stream breaks', async () => {
    const { url } = await gatewayTo(openai);
    const content = '@count 9\n@die';
    const stream = await clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }], stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) void chunk;
    };
    await expect(read()).rejects.toThrow('upstream stream was cut');
  });

  test('that leaves cancels the call', async () => {
    const { simulated, url } = await gatewayTo(openai);
    const stream = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '@count 5\n@pause' }],
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === '1 ') break;
    await eventually('the call is over', () => simulated.open === 0);
  });

  test('gets 502 for a page that is no answer', async () => {
    const { url } = await gatewayTo(openai);
    const answer = clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: '@html' }] });
    await expect(answer).rejects.toMatchObject({ status: 502 });
  });

  test('has its tokens counted where the service tells none', async () => {
    const { gateway, url } = await gatewayTo({ ...openai, more: 'tokenize: true' });
    await clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: '@error 500' }] })
      .catch(() => {});
    await told(gateway, 'gen_ai.usage.input_tokens=11');
  });
});
