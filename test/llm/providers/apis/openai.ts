import { accepts, type Json, type ProviderCall, refuse, sendJson, text } from '../call.ts';
import { embeddingsCheck, imagesCheck, rerankCheck } from '../schema/openai.ts';
import { tokensOf } from '../script.ts';
import { chatCompletions, openaiDialect } from './openai-chat.ts';
import { responses } from './openai-responses.ts';

const MODELS = ['gpt-4o', 'gpt-5', 'text-embedding-3-small'];

/** OpenAI's own API. */
export async function openai(call: ProviderCall): Promise<void> {
  if (!text(call.headers.authorization).startsWith('Bearer '))
    return refuse(call, openaiDialect, { status: 401, message: "You didn't provide an API key." });
  if (!call.path.startsWith('/v1/')) return notFound(call);
  return openaiRoute(call, call.path.slice('/v1'.length));
}

/** What follows the base path, wherever that is. */
export async function openaiRoute(call: ProviderCall, suffix: string): Promise<void> {
  switch (`${call.method} ${suffix}`) {
    case 'POST /chat/completions':
      return chatCompletions(call);
    case 'POST /responses':
      return responses(call);
    case 'POST /embeddings':
      return embeddings(call);
    case 'POST /rerank':
      return rerank(call);
    case 'POST /images/generations':
      return images(call);
    case 'GET /models':
      return sendJson(call, 200, {
        object: 'list',
        data: MODELS.map((id) => ({ id, object: 'model', created: 1, owned_by: 'openai' })),
      });
    default:
      return notFound(call);
  }
}

function notFound(call: ProviderCall): void {
  refuse(call, openaiDialect, { status: 404, message: `Invalid URL (${call.method} ${call.path})` });
}

/** A vector that depends on the text, and has `size` numbers that a float of 32 bits can hold. */
export function vectorOf(source: string, size: number): readonly number[] {
  return Array.from({ length: size }, (_, index) => Math.fround(((source.length * 31 + index * 7) % 16) / 16 - 0.5));
}

function embeddings(call: ProviderCall): void {
  if (!accepts(call, openaiDialect, [embeddingsCheck])) return;
  const { body } = call;
  const inputs = inputsOf(body['input']);
  const size = Number(body['dimensions'] ?? 8);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, size);
    const embedding =
      body['encoding_format'] === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce((sum, input) => sum + tokensOf(input), 0);
  sendJson(call, 200, {
    object: 'list',
    data,
    model: body['model'],
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  });
}

function inputsOf(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input];
  if (!Array.isArray(input)) return [];
  return typeof input[0] === 'number' ? [input.join(' ')] : input.map(String);
}

function images(call: ProviderCall): void {
  if (!accepts(call, openaiDialect, [imagesCheck])) return;
  const usage = {
    input_tokens: tokensOf(text(call.body['prompt'])),
    output_tokens: 100,
    total_tokens: 100 + tokensOf(text(call.body['prompt'])),
    input_tokens_details: { text_tokens: tokensOf(text(call.body['prompt'])), image_tokens: 0 },
  };
  sendJson(call, 200, { created: 1_700_000_000, data: [{ b64_json: 'aW1hZ2U=' }], usage });
}

/** `POST /v2/rerank` of Cohere, and those who took it over. */
export function rerank(call: ProviderCall): void {
  if (!accepts(call, openaiDialect, [rerankCheck])) return;
  const { body } = call;
  const documents = Array.isArray(body['documents']) ? body['documents'].map(String) : [];
  const results: readonly Json[] = ranked(text(body['query']), documents).slice(
    0,
    Number(body['top_n'] ?? documents.length),
  );
  sendJson(call, 200, {
    id: 'rerank-sim',
    results,
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
  });
}

/** By how many words of the query a document has. */
export function ranked(
  query: string,
  documents: readonly string[],
): readonly { index: number; relevance_score: number }[] {
  const words = query.toLowerCase().split(/\W+/);
  return documents
    .map((document, index) => {
      const hits = words.filter((word) => word !== '' && document.toLowerCase().includes(word)).length;
      return { index, relevance_score: hits / (words.length + 1) };
    })
    .toSorted((left, right) => right.relevance_score - left.relevance_score || left.index - right.index);
}
