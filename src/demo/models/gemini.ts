import { asArray, asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { Answered, SentEvent, Vendor } from './contract.ts';
import { openai, textOf, typesIn } from './openai.ts';
import { piecesOf, type Asked, type TokenCounts } from './reply.ts';

const PATH = /\/models\/([^/:]+):(stream)?generateContent$/i;

/** `generateContent`. */
export const gemini: Vendor = {
  key: 'AIza-demo-key',
  keyOf: ({ headers }) => (typeof headers['x-goog-api-key'] === 'string' ? headers['x-goog-api-key'] : undefined),
  read: (path, body) => {
    const match = PATH.exec(path);
    if (match !== null) return asked(body, decodeURIComponent(match[1] ?? ''), match[2] !== undefined);
    return undefined;
  },
  whole: ({ model }, reply) => ({
    candidates: [candidate(partOf(reply), 'STOP')],
    usageMetadata: usage(reply.tokens),
    modelVersion: model,
    responseId: 'demo',
  }),
  events,
  error: (status, message) => ({ error: { code: status, message, status: statusWord(status) } }),
};

/** Google's other way in, for clients of OpenAI. */
export const geminiLikeOpenai: Vendor = { ...openai, key: gemini.key };

function asked(body: JsonObject, model: string, streaming: boolean): Asked {
  const turns = asArray(body['contents']).map(asObject);
  const result = asArray(turns.at(-1)?.['parts'])
    .map((part) => asObject(part)['functionResponse'])
    .find(isObject);
  return {
    model,
    prompt:
      turns
        .filter((turn) => turn['role'] !== 'model')
        .map((turn) => textOf(turn['parts']))
        .findLast(Boolean) ?? '',
    streaming,
    tools: asArray(body['tools'])
      .flatMap((tool) => asArray(asObject(tool)['functionDeclarations']).map(asObject))
      .map((tool) => ({
        name: asText(tool['name']) ?? '',
        parameters: typesIn(tool['parameters'] ?? tool['parametersJsonSchema']),
      })),
    toolResult: result === undefined ? undefined : JSON.stringify(result['response'] ?? ''),
  };
}

function candidate(part: JsonObject, finishReason?: string): JsonObject {
  const content = { role: 'model', parts: [part] };
  return { content, index: 0, ...(finishReason === undefined ? {} : { finishReason }) };
}

function partOf(reply: Answered): JsonObject {
  if (reply.kind === 'say') return { text: reply.text };
  return { functionCall: { name: reply.name, args: reply.args } };
}

function usage({ input, output }: TokenCounts): JsonObject {
  return { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output };
}

/** Calls are never sent in pieces. */
function events({ model }: Asked, reply: Answered): readonly SentEvent[] {
  const parts = reply.kind === 'say' ? piecesOf(reply.text).map((text) => ({ text })) : [partOf(reply)];
  return parts.map((part, at) => {
    const last = at === parts.length - 1;
    const candidates = [candidate(part, last ? 'STOP' : undefined)];
    return {
      data: {
        candidates,
        modelVersion: model,
        responseId: 'demo',
        ...(last ? { usageMetadata: usage(reply.tokens) } : {}),
      },
    };
  });
}

const WORDS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function statusWord(status: number): string {
  return WORDS[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');
}
