// Providers of language models to put behind the examples: node examples/llm-provider.js openai:9000 anthropic:9001 gemini:9002
// Each speaks the API of its vendor, whole and streamed, wants a key as the vendor does, and repeats what it heard.
// `GET /last` tells the last request. A prompt that begins with `@status 429` is answered with that status.
import http from 'node:http';

const pause = () => new Promise((resolve) => setImmediate(resolve));
const textOf = (content) => (typeof content === 'string' ? content : content.map(({ text = '' }) => text).join(' '));

const vendors = {
  openai: {
    path: /^\/v1\/chat\/completions$/,
    key: (headers) => headers.authorization,
    prompt: ({ messages }) => textOf(messages.findLast(({ role }) => role === 'user').content),
    model: ({ model }) => model,
    streams: ({ stream }) => stream === true,
    whole: ({ model, text, usage: { input, output } }) => ({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    }),
    *events({ model, words, usage: { input, output } }) {
      const chunk = (delta, more = {}) => ({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason: null, ...more }],
      });
      for (const content of words) yield chunk({ role: 'assistant', content });
      yield {
        ...chunk({}, { finish_reason: 'stop' }),
        usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
      };
      yield '[DONE]';
    },
    error: (message) => ({ error: { message, type: 'server_error', code: null, param: null } }),
  },
  anthropic: {
    path: /^\/v1\/messages$/,
    key: (headers) => headers['x-api-key'],
    prompt: ({ messages }) => textOf(messages.findLast(({ role }) => role === 'user').content),
    model: ({ model }) => model,
    streams: ({ stream }) => stream === true,
    whole: ({ model, text, usage: { input, output } }) => ({
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: input, output_tokens: output },
    }),
    *events(answer) {
      const { words, usage } = answer;
      const message = { ...this.whole(answer), content: [], stop_reason: null };
      yield { type: 'message_start', message };
      yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
      for (const text of words) yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
      yield { type: 'content_block_stop', index: 0 };
      const delta = { stop_reason: 'end_turn', stop_sequence: null };
      yield { type: 'message_delta', delta, usage: { output_tokens: usage.output } };
      yield { type: 'message_stop' };
    },
    error: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
  },
  gemini: {
    path: /^\/v1beta\/models\/([^/:]+):(?:stream)?[gG]enerateContent$/,
    key: (headers) => headers['x-goog-api-key'],
    prompt: ({ contents }) => textOf(contents.findLast(({ role }) => role !== 'model').parts),
    model: (_body, url) => vendors.gemini.path.exec(url)[1],
    streams: (_body, url) => url.endsWith(':streamGenerateContent'),
    whole: ({ model, text, usage: { input, output } }, finishReason = 'STOP') => ({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      modelVersion: model,
      responseId: 'g1',
    }),
    *events(answer) {
      const { words } = answer;
      for (const [index, text] of words.entries())
        yield this.whole({ ...answer, text }, index === words.length - 1 ? 'STOP' : undefined);
    },
    error: (message) => ({ error: { code: 500, message, status: 'INTERNAL' } }),
  },
};

function serve(name, port) {
  const vendor = vendors[name];
  let last = 'nothing';
  const server = http.createServer(async (request, response) => {
    const [url] = request.url.split('?');
    const json = (status, body) => {
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
      response.end(JSON.stringify(body));
    };
    if (url === '/last') return response.end(`${last}\n`);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    last = `${request.method} ${request.url} ${Buffer.concat(chunks)}`;
    if (!vendor.path.test(url)) return json(404, vendor.error(`${name} has no ${url}`));
    if (vendor.key(request.headers) === undefined) return json(401, vendor.error('there is no key'));
    const body = JSON.parse(Buffer.concat(chunks));
    const prompt = vendor.prompt(body);
    const status = /^@status (\d+)/.exec(prompt)?.[1];
    if (status !== undefined) return json(Number(status), vendor.error(`${name} is not well`));
    const model = vendor.model(body, url);
    const text = `${model} of ${name} heard: ${prompt}`;
    const words = text.match(/\S+\s*/g);
    const answer = { model, text, words, usage: { input: 1000, output: 100 } };
    if (!vendor.streams(body, url)) return json(200, vendor.whole(answer));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of vendor.events(answer)) {
      const named = typeof event === 'object' && event.type !== undefined ? `event: ${event.type}\n` : '';
      response.write(`${named}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
      await pause();
    }
    response.end();
  });
  server.listen(port);
}

for (const argument of process.argv.slice(2)) {
  const [name, port] = argument.split(':');
  serve(name, Number(port));
}
