/** What language models are asked and answer here, for the cases, the upstream and the client of streams. */

/** How the model of a case is reached. */
export interface LlmCase {
  /** What the service speaks; clients always speak chat completions. */
  readonly provider: 'openAI' | 'anthropic';
}

export const CHAT_PATH = '/v1/chat/completions';

/** Texts in a stream, one event each. */
export const CHUNKS = 200;

/** Models of this name write a text every so many milliseconds, the first at once. */
export function pacedModel(everyMs: number): string {
  return `paced-${everyMs}`;
}

export function paceOf(request: string): number | undefined {
  const found = /"paced-(\d+)"/.exec(request)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** What every text of a stream contains. */
export const WORD = ' word';

const SYSTEM = 'You answer questions of customers about their orders in short and friendly sentences. '.repeat(6);
const QUESTION = 'Where is the parcel with the two lamps that I ordered last week, and who brings it? '.repeat(2);
const ANSWER = 'The parcel left our warehouse on Tuesday and is on its way to you with the usual carrier. '.repeat(4);

/** About two KiB, as chats are: some turns and a tool. */
export function chatRequest({ stream, model = 'some-model' }: { stream: boolean; model?: string }): string {
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: QUESTION },
      { role: 'assistant', content: ANSWER },
      { role: 'user', content: QUESTION },
    ],
    max_tokens: 400,
    temperature: 0.2,
    tools: [
      {
        type: 'function',
        function: {
          name: 'find_order',
          description: 'Finds an order of the customer.',
          parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
        },
      },
    ],
    ...(stream && { stream: true }),
  });
}

export function chatAnswer(): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'some-model',
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER.repeat(2) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 210, completion_tokens: 150, total_tokens: 360 },
  };
}

export function messageAnswer(): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'some-model',
    content: [{ type: 'text', text: ANSWER.repeat(2) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 210, output_tokens: 150 },
  };
}

/** The events of a streamed chat completion. */
export function chatEvents(): readonly string[] {
  const chunk = (delta: object, finish: string | null = null): string =>
    event(null, {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: 'some-model',
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const words = Array.from({ length: CHUNKS }, (_, index) =>
    chunk(index === 0 ? { role: 'assistant', content: WORD } : { content: WORD }),
  );
  return [...words, chunk({}, 'stop'), 'data: [DONE]\n\n'];
}

/** The same, as Anthropic streams it. */
export function messageEvents(): readonly string[] {
  const message = {
    ...messageAnswer(),
    content: [],
    stop_reason: null,
    usage: { input_tokens: 210, output_tokens: 1 },
  };
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORD } };
  const all = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array.from({ length: CHUNKS }, () => delta),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 200 } },
    { type: 'message_stop' },
  ];
  return all.map((data) => event(data.type, data));
}

function event(name: string | null, data: object): string {
  return `${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
}
