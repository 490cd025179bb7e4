import OpenAI from 'openai';

import { type Ask, ask, Cleanup, startGateway, upstream } from './gateway.ts';

interface Seen {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

/** A service of chat completions that keeps what it was asked and answers with its name. */
export async function chatService(cleanup: Cleanup, name: string, status = 200) {
  const seen: Seen[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      let body = '';
      request.setEncoding('latin1');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const json = body.startsWith('{') ? JSON.parse(body) : {};
        seen.push({ url: request.url ?? '', headers: request.headers, body, json });
        if (json.stream === true) return stream(response, name);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(status === 200 ? completion(name, json.model) : { error: { message: 'busy' } }));
      });
    }),
  );
  return { seen, url: `http://127.0.0.1:${server.port}/v1`, port: server.port };
}

type Response = Parameters<Parameters<typeof upstream>[0]>[1];

function stream(response: Response, name: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: name, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.write(chunk({ role: 'assistant', content: 'from ' }, null));
  response.write(chunk({ content: name }, null));
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
}

function completion(name: string, model: unknown): object {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: `from ${name}` }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
}

/** A gateway with a section `llm`, and the client of OpenAI for it. */
export async function llmGateway(cleanup: Cleanup, text: string, more = '') {
  const gateway = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\n${more}llm:\n${text}`));
  const port = gateway.port(80);
  const client = (options: { apiKey?: string; headers?: Record<string, string> } = {}) =>
    new OpenAI({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: options.apiKey ?? 'client-key',
      defaultHeaders: options.headers ?? {},
      maxRetries: 0,
    });
  const says = async (model: string, options: { apiKey?: string; headers?: Record<string, string> } = {}) => {
    const answer = await client(options).chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    return answer.choices[0]?.message.content;
  };
  return { ...gateway, client, says, ask: (path: string, options?: Ask) => ask(port, path, options) };
}

/** What the client of OpenAI makes of a refusal. */
export async function failure(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) {
      const { status, code, type, message } = error;
      return { status, code, type, message };
    }
    throw error;
  }
  throw new Error('the call succeeded');
}
