import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  tool,
  type ToolSet,
} from 'ai';

import type { Chat, ChatClient, Failure, Question, Told } from '../client.ts';
import { PNG } from '../client.ts';
import { CLIENT_KEY } from '../world.ts';

type Models = (url: string) => (model: string) => LanguageModel;
type Options = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

/** Vercel's `ai` with the package of a vendor. */
function client(
  pkg: string,
  format: ChatClient['format'],
  own: { readonly models: Models; readonly options?: Options; readonly reasoning: Options } & Pick<
    ChatClient,
    'lacks' | 'refused' | 'opaque'
  >,
): ChatClient {
  return {
    name: `ai with ${pkg}`,
    format,
    at: (url) => chat(own.models(url), { usual: own.options ?? {}, reasoning: own.reasoning }),
    finish: { stop: 'stop', length: 'length', calls: 'tool-calls', filtered: 'content-filter' },
    countsCached: true,
    errors: { 400: 'AI_APICallError', 401: 'AI_APICallError', 429: 'AI_APICallError', 500: 'AI_APICallError' },
    failure,
    ...(own.lacks === undefined ? {} : { lacks: own.lacks }),
    ...(own.refused === undefined ? {} : { refused: own.refused }),
    ...(own.opaque === undefined ? {} : { opaque: own.opaque }),
  };
}

export const aiClients = {
  completions: client('@ai-sdk/openai, chat', 'completions', {
    models: (url) => (model) => createOpenAI({ apiKey: CLIENT_KEY, baseURL: `${url}/v1` }).chat(model),
    reasoning: { openai: { reasoningEffort: 'low', forceReasoning: true } },
    lacks: new Set(['reasoning', 'signatures']),
  }),
  compatible: client('@ai-sdk/openai-compatible', 'completions', {
    models: (url) =>
      createOpenAICompatible({
        name: 'gw',
        apiKey: CLIENT_KEY,
        baseURL: `${url}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }),
    reasoning: { gw: { reasoningEffort: 'low' } },
    refused: { finish: 'stop', worded: false },
    lacks: new Set(['signatures']),
  }),
  responses: client('@ai-sdk/openai, responses', 'responses', {
    models: (url) => (model) => createOpenAI({ apiKey: CLIENT_KEY, baseURL: `${url}/v1` }).responses(model),
    options: { openai: { store: false } },
    reasoning: { openai: { store: false, reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true } },
  }),
  messages: client('@ai-sdk/anthropic', 'messages', {
    models: (url) => createAnthropic({ apiKey: CLIENT_KEY, baseURL: `${url}/v1` }),
    reasoning: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
  }),
  generateContent: client('@ai-sdk/google', 'generateContent', {
    models: (url) => createGoogleGenerativeAI({ apiKey: CLIENT_KEY, baseURL: `${url}/v1beta` }),
    reasoning: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } } },
  }),
  converse: client('@ai-sdk/amazon-bedrock', 'converse', {
    models: (url) =>
      createAmazonBedrock({ region: 'us-east-1', baseURL: url, accessKeyId: CLIENT_KEY, secretAccessKey: 'secret' }),
    opaque: true,
    reasoning: { bedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 1024 } } },
  }),
} as const;

interface OptionSets {
  readonly usual: Options;
  readonly reasoning: Options;
}

function chat(models: (model: string) => LanguageModel, options: OptionSets): Chat {
  return {
    async ask(model, question) {
      const body = { model: models(model), ...asked(question, options), maxRetries: 0 };
      if (!question.stream) return told(await generateText(body));
      let failed: unknown;
      const stream = streamText({ ...body, onError: ({ error }) => void (failed = error) });
      await stream.consumeStream();
      if (failed !== undefined) throw failed instanceof Error ? failed : new Error(failure(failed).message);
      return told({
        text: await stream.text,
        reasoningText: await stream.reasoningText,
        toolCalls: await stream.toolCalls,
        finishReason: await stream.finishReason,
        usage: await stream.usage,
        response: await stream.response,
      });
    },
    async pieces(model, prompt, abortSignal) {
      const { fullStream } = streamText({ model: models(model), prompt, maxRetries: 0, abortSignal, onError() {} });
      return texts(fullStream);
    },
  };
}

async function* texts(stream: AsyncIterable<{ readonly type: string }>): AsyncIterable<string> {
  for await (const part of stream) {
    if (part.type === 'text-delta' && 'text' in part && typeof part.text === 'string') yield part.text;
    if (part.type === 'error' && 'error' in part) throw part.error;
  }
}

function asked({ prompt, earlier = [], system, tools, schema, image, reasoning }: Question, sets: OptionSets) {
  const messages: ModelMessage[] = [];
  for (const { prompt: before, reply, results = [] } of earlier) {
    // `as`: the messages of an earlier answer.
    messages.push({ role: 'user', content: before }, ...(reply as ModelMessage[]));
    if (results.length === 0) continue;
    messages.push({
      role: 'tool',
      content: results.map(({ id, name, text }) => ({
        type: 'tool-result' as const,
        toolCallId: id,
        toolName: name,
        output: { type: 'text' as const, value: text },
      })),
    });
  }
  if (prompt !== null && image === true)
    messages.push({
      role: 'user',
      content: [
        { type: 'text', text: prompt },
        { type: 'image', image: PNG, mediaType: 'image/png' },
      ],
    });
  else if (prompt !== null) messages.push({ role: 'user', content: prompt });
  const set: ToolSet = Object.fromEntries(
    (tools ?? []).map(({ name, parameters }) => [name, tool({ inputSchema: jsonSchema({ ...parameters }) })]),
  );
  return {
    messages,
    maxOutputTokens: 4096,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools: set }),
    ...(schema === undefined ? {} : { output: Output.object({ schema: jsonSchema({ ...schema }), name: 'answer' }) }),
    providerOptions: reasoning === true ? sets.reasoning : sets.usual,
  };
}

interface Answer {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[];
  readonly finishReason: string;
  readonly usage: {
    readonly inputTokens: number | undefined;
    readonly outputTokens: number | undefined;
    readonly inputTokenDetails: { readonly cacheReadTokens: number | undefined };
  };
  readonly response: { readonly messages: readonly unknown[] };
}

function told({ text, reasoningText, toolCalls, finishReason, usage, response }: Answer): Told {
  return {
    text,
    reasoning: reasoningText ?? '',
    refusal: '',
    calls: toolCalls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, input })),
    finish: finishReason,
    usage: {
      input: usage.inputTokens ?? 0,
      cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
      output: usage.outputTokens ?? 0,
    },
    reply: response.messages,
  };
}

function failure(error: unknown): Failure {
  if (APICallError.isInstance(error))
    return {
      kind: error.name,
      status: error.statusCode,
      message: error.message,
      retryAfter: error.responseHeaders?.['retry-after'],
    };
  const message = typeof error === 'string' ? error : JSON.stringify(error, errorFields);
  return { kind: 'unknown', status: undefined, message, retryAfter: undefined };
}

/** Errors in streams are whatever the vendor's event has. */
function errorFields(_key: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message } : value;
}
