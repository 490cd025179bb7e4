import type { ServerResponse } from 'node:http';

import { upstream } from './gateway.ts';

export interface ModelServiceOptions {
  /** As the service tells it. */
  readonly usage?: object | undefined;
  readonly format?: 'completions' | 'messages';
  readonly model?: string;
  readonly status?: number;
  /** Of the answer, one event each. */
  readonly pieces?: readonly string[];
  readonly call?: { readonly id: string; readonly name: string; readonly arguments: string } | undefined;
}

export type ModelService = Awaited<ReturnType<typeof modelService>>;

/** A service of language models whose streams move when the test says so. */
export async function modelService(options: ModelServiceOptions = {}) {
  const { format = 'completions', model = 'gpt-4o', status = 200, pieces = ['hi'], usage, call } = options;
  const asked: { readonly url: string; readonly json: Record<string, unknown> }[] = [];
  const write = format === 'completions' ? completions : messages;
  let open: ServerResponse | null = null;
  let opened = (): void => {};
  const server = await upstream((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const json = JSON.parse(body);
      asked.push({ url: request.url ?? '', json });
      if (json.stream === true && status === 200) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(write.begin({ model, usage }));
        open = response;
        opened();
        return;
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(status === 200 ? write.whole({ model, usage, text: pieces.join(''), call }) : {}));
    });
  });
  const stream = async (): Promise<ServerResponse> => {
    if (open === null) await new Promise<void>((resolve) => (opened = resolve));
    if (open === null) throw new Error('no stream');
    return open;
  };
  return {
    ...server,
    asked,
    /** Sends a piece, once the stream is open. */
    async next(text: string): Promise<void> {
      const response = await stream();
      await new Promise((resolve) => response.write(write.piece({ model, text }), resolve));
      // Another turn of the loop: pieces arrive one by one.
      await new Promise((resolve) => setImmediate(resolve));
    },
    /** The next stream is another. */
    forget(): void {
      open = null;
    },
    end(): void {
      open?.end(write.end({ model, usage, call }));
      open = null;
    },
  };
}

interface Facts {
  readonly model: string;
  readonly usage?: object | undefined;
  readonly text?: string;
  readonly call?: ModelServiceOptions['call'];
}

const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

const toolCalls = (call: ModelServiceOptions['call']): object =>
  call === undefined
    ? {}
    : {
        tool_calls: [
          { index: 0, id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } },
        ],
      };

const completions = {
  whole: ({ model, usage, text, call }: Facts) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text, ...toolCalls(call) } }],
    ...(usage === undefined ? {} : { usage }),
  }),
  chunk: (model: string, delta: object, more: object = {}) =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [{ index: 0, delta, finish_reason: null }],
      ...more,
    }),
  begin: ({ model }: Facts) => completions.chunk(model, { role: 'assistant', content: '' }),
  piece: ({ model, text }: Facts) => completions.chunk(model, { content: text }),
  end: ({ model, usage, call }: Facts) =>
    `${call === undefined ? '' : completions.chunk(model, toolCalls(call))}${
      usage === undefined
        ? ''
        : event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [], usage })
    }data: [DONE]\n\n`,
};

const messages = {
  whole: ({ model, usage, text }: Facts) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage,
  }),
  begin: ({ model, usage }: Facts) =>
    event(
      {
        type: 'message_start',
        message: {
          ...messages.whole({ model, usage: { ...usage, output_tokens: 1 } }),
          content: [],
          stop_reason: null,
        },
      },
      'message_start',
    ) +
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
  piece: ({ text }: Facts) =>
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta'),
  end: ({ usage }: Facts) =>
    event({ type: 'content_block_stop', index: 0 }, 'content_block_stop') +
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }, 'message_delta') +
    event({ type: 'message_stop' }, 'message_stop'),
};

/** The value of the sample whose labels have all of these. */
export function sample(text: string, name: string, ...labels: readonly string[]): number | undefined {
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && labels.every((label) => each.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}
