import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startModels, type RunningModels } from '../demo/models.ts';
import { Cleanup, upstream } from '../e2e/gateway.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

let models: RunningModels;
beforeAll(async () => {
  models = await startModels();
});
afterAll(() => models.close());

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SAID = (model: string, prompt: string): string =>
  `This is ${model}, a simulated model. You asked: "${prompt}". I know nothing, but I say it in the format of my vendor, word by word. Ask me to "fail with 503", to "break off", or give me a tool.`;

/** Through the admin interface, which tells where the models are. */
function ask(...words: string[]) {
  return gwctl(['llm', 'ask', '--address', new URL(models.admin).host, ...words]);
}

async function askAt(listener: RequestListener, ...words: string[]) {
  const { port } = cleanup.add(await upstream(listener));
  return gwctl(['llm', 'ask', '--url', `http://127.0.0.1:${port}`, '-m', 'm', ...words]);
}

describe('llm ask', () => {
  test('finds the models by itself, prints the answer, and tells tokens and times apart from it', async () => {
    const { code, stdout, stderr } = await ask('-m', 'claude-demo', 'What is a gateway?');
    expect(stdout).toBe(`${SAID('claude-demo', 'What is a gateway?')}\n`);
    expect(stderr).toMatch(/^asking http:\/\/127\.0\.0\.1:\d+\/ \(route llm of listener models\)\n/);
    expect(stderr).toMatch(
      /claude-demo: 9 tokens in, 52 out, stop; first text after [\d.]+m?s, all after [\d.]+m?s\n$/,
    );
    expect(code).toBe(0);
  });

  test('-o json has the message, its usage, the model and the times', async () => {
    const { stdout } = await ask('-m', 'any', '-o', 'json', '--no-stream', 'Hello');
    expect(JSON.parse(stdout)).toEqual({
      model: 'gpt-demo',
      requestedModel: 'any',
      message: { role: 'assistant', content: SAID('gpt-demo', 'Hello'), reasoning: null, toolCalls: [] },
      finish: 'stop',
      usage: { inputTokens: 6, outputTokens: 48, cachedInputTokens: null, reasoningTokens: null },
      timings: { firstTextMs: expect.any(Number), totalMs: expect.any(Number) },
      request: { url: expect.stringMatching(/\/v1\/chat\/completions$/), format: 'completions', streamed: false },
      status: 200,
    });
  });

  test.each(['messages', 'responses', 'generateContent'])('asks in the format %s', async (format) => {
    const { code, stdout } = await ask('-m', 'gemini-demo', '--format', format, '-q', 'Hello');
    expect([code, stdout]).toEqual([0, `${SAID('gemini-demo', 'Hello')}\n`]);
  });

  test('sends system, headers and key, and reads the prompt from stdin', async () => {
    let seen: { headers: object; body: unknown } = { headers: {}, body: null };
    const { port } = cleanup.add(
      await upstream((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          seen = { headers: request.headers, body: JSON.parse(body) };
          response.setHeader('content-type', 'application/json');
          response.end('{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}');
        });
      }),
    );
    const words = ['--url', `http://127.0.0.1:${port}/v1`, '-m', 'm', '--system', 'Be short.', '-H', 'x-team: red'];
    const { code, stdout } = await gwctl(['llm', 'ask', ...words, '--api-key', 'k-1', '-'], { input: 'from stdin' });
    expect([code, stdout]).toEqual([0, 'hi\n']);
    expect(seen.headers).toMatchObject({ authorization: 'Bearer k-1', 'x-team': 'red' });
    expect(seen.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'from stdin' },
      ],
    });
  });

  test('prints the tools that the model wants called', async () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const { stdout } = await askAt(
      (_request, response) =>
        response.end(JSON.stringify({ choices: [{ message: { content: null, tool_calls: [call] } }] })),
      'hello',
    );
    expect(stdout).toBe('calls f({"a":1})\n');
  });
});

describe('what goes wrong', () => {
  test('an unknown model: status, reason, message, and where the models are listed', async () => {
    const { code, stdout, stderr } = await ask('-m', 'nothing', 'Hello');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Error: the gateway answered 404 Not Found, reason NotFound: Model not found');
    expect(stderr).toMatch(/Try this: gwctl proxy config models --address 127\.0\.0\.1:\d+\n/);
  });

  test('an error of the provider, and a command that shows what happened', async () => {
    const { code, stderr } = await ask('-m', 'claude-demo', "fail, don't wait");
    expect(code).toBe(1);
    expect(stderr).toContain('Error: the model service answered 500 Internal Server Error: claude-demo fails');
    expect(stderr).toMatch(/Try this: gwctl trace --address \S+ --port \d+ -- --json '\{"model":"claude-demo"/);
    expect(stderr).toContain(String.raw`don'\''t wait`);
  });

  test.each([
    [401, 'APIKeyAuth', 5],
    [403, undefined, 5],
    [504, 'Timeout', 124],
    [429, 'RateLimit', 1],
  ] as const)('%p with reason %p ends with the exit code %p', async (status, reason, exitCode) => {
    const answer: RequestListener = (_request, response) => {
      response.writeHead(status, reason === undefined ? {} : { 'x-gw-reason': reason });
      response.end('no');
    };
    const { code, stderr } = await askAt(answer, 'hello');
    expect(code).toBe(exitCode);
    expect(stderr).toContain(reason === undefined ? 'the model service answered' : `reason ${reason}: no`);
  });

  test('a stream that breaks off: what came stays, the rest is told in words', async () => {
    const { code, stdout, stderr } = await ask('-m', 'gpt-demo', 'break off');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^This is gpt-demo, .*\n$/);
    expect(stderr).toContain('Code: GW_LLM_STREAM');
  });

  test.each([
    ['HTML', 'text/html', '<html>', 'the answer holds no message: <html>'],
    ['an empty stream', 'text/event-stream', '', 'the stream ended without a message'],
    [
      'a stream without an end',
      'text/event-stream',
      'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
      'the stream ended in the middle of the answer',
    ],
    [
      'an error in a stream',
      'text/event-stream',
      'event: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n',
      'the answer broke off: overloaded',
    ],
  ])('%s with status 200', async (_what, type, body, message) => {
    const answer: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    };
    const { code, stderr } = await askAt(answer, 'hello');
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  test('nobody listens: exit code 4', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // a TCP server that listens
    await new Promise((resolve) => server.close(resolve));
    const { code, stderr } = await gwctl(['llm', 'ask', '--local', '--port', String(port), '-m', 'm', 'hello']);
    expect(code).toBe(4);
    expect(stderr).toMatch(/cannot reach localhost:\d+: nothing listens there/);
  });

  test('nothing comes in time: exit code 124, before the answer and in the middle of it', async () => {
    const silent = await askAt(() => {}, '--timeout', '200ms', 'hello');
    expect([silent.code, silent.stderr]).toEqual([124, expect.stringContaining('did not answer in time')]);
    const stalls: RequestListener = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    };
    const stalled = await askAt(stalls, '--timeout', '200ms', 'hello');
    expect([stalled.code, stalled.stdout]).toEqual([124, 'a\n']);
  });

  test('Ctrl-C hangs up and ends with 130', async () => {
    let hungUp: () => void = () => {};
    const gone = new Promise<void>((resolve) => (hungUp = resolve));
    const stalls: RequestListener = (_request, response) => {
      response.on('close', hungUp);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    };
    const { port } = cleanup.add(await upstream(stalls));
    const child = startGwctl(['llm', 'ask', '--url', `http://127.0.0.1:${port}`, '-m', 'm', 'hello']);
    child.stdin.end();
    child.stdout.once('data', () => child.kill('SIGINT'));
    const { code, stderr } = await finished(child);
    expect([code, stderr]).toEqual([130, '']);
    await gone;
  });

  test.each([
    [['--url', 'http://127.0.0.1:1', '--port', '1', '-m', 'm', 'hello'], 'does not go with --port'],
    [['--url', 'ftp://127.0.0.1', '-m', 'm', 'hello'], 'is no address of a gateway'],
    [['--port', '1', '-m', 'm', ' '], 'the prompt is empty'],
    [['--port', '1', '-m', 'm', '-H', 'nothing', 'hello'], 'is not a header'],
    [['--port', '1', 'hello'], 'model'],
  ])('%p is wrong usage', async (words, message) => {
    const { code, stderr } = await gwctl(['llm', 'ask', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('config models', () => {
  test('lists models with what they have done and used', async () => {
    await ask('-m', 'claude-demo', '-q', 'Hello');
    const address = new URL(models.admin).host;
    const { stdout } = await gwctl(['config', 'models', '--address', address, '-o', 'json']);
    const rows = JSON.parse(stdout);
    expect(rows.map((row: { name: string }) => row.name)).toEqual(['claude-demo', 'gemini-demo', 'gpt-demo', 'any']);
    expect(rows[0]).toMatchObject({ provider: 'anthropic', visibility: 'public', health: expect.any(Number) });
    expect(rows[0].requests).toBeGreaterThan(0);
    expect(rows[0].inputTokens).toBeGreaterThan(0);
    expect(rows[0].cost).toBeGreaterThan(0);
    expect(rows[3]).toMatchObject({ provider: 'failover', leadsTo: ['gpt-demo', 'claude-demo', 'gemini-demo'] });
    const table = (await gwctl(['proxy', 'config', 'models', '--address', address])).stdout;
    expect(table).toMatch(/^NAME +PROVIDER +VISIBILITY +HEALTH +REQUESTS +TOKENS +COST +LATENCY\n/);
    const names = await gwctl(['config', 'models', '--address', address, '-o', 'name', '--name', '*-demo']);
    expect(names.stdout).toBe('claude-demo\ngemini-demo\ngpt-demo\n');
  });
});
