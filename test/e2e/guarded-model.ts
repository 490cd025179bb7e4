import OpenAI from 'openai';

import { type Ask, ask, type Cleanup, startGateway, upstream } from './gateway.ts';

export type Response = Parameters<Parameters<typeof upstream>[0]>[1];

const completion = (content: string) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

export const MASK_SSN = '{regex: {rules: [{builtin: ssn}]}}';
export const REJECT_SSN = '{regex: {action: reject, rules: [{builtin: ssn}]}}';
/** What they find. */
export const SECRET = '123-45-6789';

interface Options {
  readonly provider?: string;
  readonly env?: Record<string, string>;
  readonly top?: string;
}

/** Models and gateways with guards in front of them; all goes away with `cleanup`. */
export function guarding(cleanup: Cleanup) {
  /** A model that says the same to everybody, in pieces where it is asked to. */
  async function model(pieces: readonly string[], status = 200) {
    const asked: Record<string, unknown>[] = [];
    /** Bodies as they came. */
    const received: string[] = [];
    const closed = { early: false };
    const server = cleanup.add(
      await upstream((request, response) => {
        let body = '';
        request.on('data', (data: Buffer) => (body += data.toString()));
        request.on('end', () => {
          const json = JSON.parse(body || '{}');
          asked.push(json);
          received.push(body);
          response.on('close', () => (closed.early = !response.writableFinished));
          if (json.stream === true || request.url?.includes('stream'))
            return stream(response, request.url ?? '', pieces);
          response.writeHead(status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(whole(request.url ?? '', pieces.join(''))));
        });
      }),
    );
    return { asked, received, closed, port: server.port };
  }

  /** A gateway in front of the model, with these guards. */
  async function guarded(port: number, guards: string, { provider = 'openAI', env = {}, top = '' }: Options = {}) {
    const base =
      provider === 'openAI' ? `{baseUrl: "http://127.0.0.1:${port}/v1"}` : `{hostOverride: "127.0.0.1:${port}"}`;
    const gateway = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}
frontendPolicies: {accessLog: {}}
llm:
${top === '' ? '' : `  policies: {guardrails: ${top}}\n`}  models:
  - {name: m, provider: ${provider}, params: ${base}, guardrails: ${guards}}
`,
        { env },
      ),
    );
    const at = `http://127.0.0.1:${gateway.port(80)}`;
    const openai = new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
    const chat = (content: string, more: Partial<Ask> = {}) =>
      ask(gateway.port(80), '/v1/chat/completions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        ...more,
      });
    return { gateway, at, openai, chat };
  }

  return { model, guarded };
}

function whole(url: string, text: string): object {
  if (url.includes('generateContent'))
    return { candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }] };
  if (url.endsWith('/responses'))
    return {
      id: 'r',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'i',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
    };
  if (url.endsWith('/messages'))
    return {
      id: 'm1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  return completion(text);
}

/** One event for each piece; the last of them is not sent before the others were read. */
function stream(response: Response, url: string, pieces: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = eventsOf(url, pieces);
  const next = (index: number): void => {
    const event = events[index];
    if (event === undefined) return void response.end();
    response.write(event, () => setImmediate(next, index + 1));
  };
  next(0);
}

function eventsOf(url: string, pieces: readonly string[]): string[] {
  const named = (...events: { type: string }[]) =>
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  if (url.includes('GenerateContent')) {
    const event = (text: string, more: object = {}) =>
      sse({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }] });
    return [...pieces.map((piece) => event(piece)), event('', { finishReason: 'STOP' })];
  }
  if (url.endsWith('/messages'))
    return [
      ...named(
        { type: 'message_start', message: { ...whole(url, ''), content: [], stop_reason: null } } as { type: string },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as { type: string },
      ),
      ...pieces.flatMap((text) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as { type: string }),
      ),
      ...named(
        { type: 'content_block_stop', index: 0 } as { type: string },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } } as { type: string },
        { type: 'message_stop' },
      ),
    ];
  if (url.endsWith('/responses')) {
    const at = { item_id: 'i', output_index: 0, content_index: 0 };
    const text = pieces.join('');
    const events: Record<string, unknown>[] = [
      { type: 'response.created', response: { ...whole(url, ''), output: [], status: 'in_progress' } },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'i', role: 'assistant', status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part: { type: 'output_text', text, annotations: [] } },
      { type: 'response.completed', response: whole(url, text) },
    ];
    return events.flatMap((event, index) => named({ sequence_number: index, ...event } as unknown as { type: string }));
  }
  return [
    sse(chunk({ role: 'assistant', content: '' })),
    ...pieces.map((content) => sse(chunk({ content }))),
    sse(chunk({}, 'stop')),
    'data: [DONE]\n\n',
  ];
}

/** What was counted, by phase and action. */
export const metric = async (gateway: { stats: string }): Promise<string[]> =>
  (await (await fetch(`${gateway.stats}/metrics`)).text())
    .split('\n')
    .filter((line) => line.startsWith('gw_guardrail_checks_total{'));
