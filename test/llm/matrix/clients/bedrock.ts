import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  type Message,
  type TokenUsage,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';

import { type Chat, type ChatClient, parsed, PNG, type Question, type Told } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';

/** The library of AWS, with Converse. */
export const bedrock: ChatClient = {
  name: '@aws-sdk/client-bedrock-runtime',
  format: 'converse',
  at: (url) =>
    chat(
      new BedrockRuntimeClient({
        region: 'us-east-1',
        endpoint: url,
        credentials: { accessKeyId: CLIENT_KEY, secretAccessKey: 'secret' },
        maxAttempts: 1,
        requestHandler: new NodeHttpHandler(),
      }),
    ),
  finish: { stop: 'end_turn', length: 'max_tokens', calls: 'tool_use', filtered: 'content_filtered' },
  countsCached: false,
  opaque: true,
  errors: {
    400: 'ValidationException',
    401: 'InternalServerException',
    429: 'ThrottlingException',
    500: 'InternalServerException',
  },
  failure(error) {
    if (!(error instanceof BedrockRuntimeServiceException)) {
      // What is no answer at all ends in whatever reading it throws.
      return { kind: 'unknown', status: undefined, message: String(error), retryAfter: undefined };
    }
    return {
      kind: error.name,
      // `as`: errors of streams have none.
      status: (error.$metadata as { httpStatusCode?: number } | undefined)?.httpStatusCode,
      message: error.message,
      retryAfter: error.$response?.headers['retry-after'],
    };
  },
};

function chat(client: BedrockRuntimeClient): Chat {
  return {
    async ask(model, question) {
      const body = { modelId: model, ...asked(question) };
      if (question.stream) {
        const { stream } = await client.send(new ConverseStreamCommand(body));
        return gathered(stream ?? []);
      }
      const { output, stopReason, usage } = await client.send(new ConverseCommand(body));
      return told(output?.message?.content ?? [], String(stopReason), usage);
    },
    async pieces(model, prompt, signal) {
      const { stream } = await client.send(
        new ConverseStreamCommand({ modelId: model, messages: [{ role: 'user', content: [{ text: prompt }] }] }),
        { abortSignal: signal },
      );
      return texts(stream ?? []);
    },
  };
}

type Events = AsyncIterable<ConverseStreamOutput> | readonly ConverseStreamOutput[];

async function* texts(stream: Events): AsyncIterable<string> {
  for await (const { contentBlockDelta } of stream) {
    const text = contentBlockDelta?.delta?.text;
    if (text !== undefined) yield text;
  }
}

function asked(question: Question): Omit<ConverseCommandInput, 'modelId'> {
  const { prompt, earlier = [], system, tools, schema, image, reasoning } = question;
  const messages: Message[] = [];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: the content of an earlier answer.
    const content = reply as ContentBlock[];
    messages.push({ role: 'user', content: [{ text: before }] }, { role: 'assistant', content });
    if (results.length > 0) {
      const blocks = results.map(({ id, text }) => ({ toolResult: { toolUseId: id, content: [{ text }] } }));
      messages.push({ role: 'user', content: blocks });
    }
  }
  const picture: ContentBlock[] =
    image === true ? [{ image: { format: 'png', source: { bytes: Buffer.from(PNG, 'base64') } } }] : [];
  if (prompt !== null) messages.push({ role: 'user', content: [{ text: prompt }, ...picture] });
  return {
    messages,
    ...(system === undefined ? {} : { system: [{ text: system }] }),
    ...(tools === undefined
      ? {}
      : {
          toolConfig: {
            tools: tools.map(({ name, parameters }) => ({
              // `as`: a schema is JSON, which the library types as such.
              toolSpec: { name, inputSchema: { json: parameters as { [key: string]: string } } },
            })),
          },
        }),
    ...(schema === undefined
      ? {}
      : {
          outputConfig: {
            textFormat: {
              type: 'json_schema' as const,
              structure: { jsonSchema: { schema: JSON.stringify(schema), name: 'answer' } },
            },
          },
        }),
    ...(reasoning === true
      ? { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 1024 } } }
      : {}),
  };
}

function told(content: readonly ContentBlock[], finish: string, usage: TokenUsage | undefined): Told {
  return {
    text: content.map(({ text }) => text ?? '').join(''),
    reasoning: content.map(({ reasoningContent }) => reasoningContent?.reasoningText?.text ?? '').join(''),
    refusal: '',
    calls: content.flatMap(({ toolUse }) =>
      toolUse === undefined ? [] : [{ id: toolUse.toolUseId ?? '', name: toolUse.name ?? '', input: toolUse.input }],
    ),
    finish,
    usage: {
      input: usage?.inputTokens ?? 0,
      cached: usage?.cacheReadInputTokens ?? 0,
      output: usage?.outputTokens ?? 0,
    },
    reply: content,
  };
}

/** The library leaves it to its user to put a stream together. */
async function gathered(stream: Events): Promise<Told> {
  const blocks: Gathered[] = [];
  let finish = '';
  let usage: TokenUsage | undefined;
  for await (const { contentBlockStart: start, contentBlockDelta, messageStop, metadata } of stream) {
    const use = start?.start?.toolUse;
    if (use !== undefined)
      block(blocks, start?.contentBlockIndex).use = { id: use.toolUseId ?? '', name: use.name ?? '' };
    if (contentBlockDelta !== undefined) {
      const { delta, contentBlockIndex: index } = contentBlockDelta;
      const at = block(blocks, index);
      at.text += delta?.text ?? '';
      at.input += delta?.toolUse?.input ?? '';
      at.reasoning += delta?.reasoningContent?.text ?? '';
      at.signature += delta?.reasoningContent?.signature ?? '';
    }
    finish = messageStop?.stopReason ?? finish;
    usage = metadata?.usage ?? usage;
  }
  return told(blocks.flatMap(contentOf), finish, usage);
}

interface Gathered {
  text: string;
  input: string;
  reasoning: string;
  signature: string;
  use: { readonly id: string; readonly name: string } | null;
}

function block(blocks: Gathered[], index = 0): Gathered {
  return (blocks[index] ??= { text: '', input: '', reasoning: '', signature: '', use: null });
}

function contentOf({ text, input, reasoning, signature, use }: Gathered): ContentBlock[] {
  // `as`: what the model wrote is JSON, which the library types as such.
  if (use !== null)
    return [{ toolUse: { toolUseId: use.id, name: use.name, input: parsed(input) as { [key: string]: string } } }];
  if (reasoning !== '') return [{ reasoningContent: { reasoningText: { text: reasoning, signature } } }];
  return [{ text }];
}
