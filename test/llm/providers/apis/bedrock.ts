import { EventStreamCodec } from '@smithy/eventstream-codec';

import {
  accepts,
  contentText,
  type Dialect,
  type Event,
  fragments,
  type Json,
  object,
  objects,
  type ProviderCall,
  refuse,
  reply,
  sendJson,
  text,
} from '../call.ts';
import { verifySignature } from '../../../proxy/backends/auth/aws-verifier.ts';
import { cloudMessagesCheck } from '../schema/anthropic.ts';
import {
  bedrockRerankCheck,
  cohereEmbedCheck,
  converseCheck,
  countTokensCheck,
  novaCheck,
  titanCheck,
} from '../schema/bedrock.ts';
import { type Asked, type Counted, type Script, type Scripted, scripted, tokensOf } from '../script.ts';
import { messages } from './anthropic.ts';
import { ranked, vectorOf } from './openai.ts';

const bedrockDialect: Dialect = {
  error: (_status, message) => ({ message }),
  errorHeaders: (status) => ({
    'x-amzn-errortype': ERRORS[status] ?? 'InternalServerException',
    'x-amzn-requestid': 'req-sim',
  }),
};

const ERRORS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
};

const EVENT_STREAM = 'application/vnd.amazon.eventstream';
/** Whoever signs with this secret is let in. */
export const SECRET = 'secret';
const ACTION = /^\/model\/([^/]+)\/(converse|converse-stream|invoke|invoke-with-response-stream|count-tokens)$/;

/** Bedrock's runtime, and the reranking of its agents. */
export async function bedrock(call: ProviderCall): Promise<void> {
  const { method, target: url, headers, raw: body } = call;
  const signature = await verifySignature({ method, url, headers, body }, (accessKeyId) => ({
    accessKeyId,
    secretAccessKey: SECRET,
  }));
  if (signature !== 'valid')
    return refuse(call, bedrockDialect, { status: 403, message: `The request signature does not match: ${signature}` });
  if (call.method !== 'POST') return notFound(call);
  if (call.path === '/rerank') return rerank(call);
  const [, name, action] = ACTION.exec(call.path) ?? [];
  if (name === undefined) return notFound(call);
  const model = decodeURIComponent(name);
  switch (action) {
    case 'converse':
      return converse(call, { model, stream: false });
    case 'converse-stream':
      return converse(call, { model, stream: true });
    case 'count-tokens':
      return countTokens(call);
    default:
      return invoke(call, { model, stream: action === 'invoke-with-response-stream' });
  }
}

function notFound(call: ProviderCall): void {
  refuse(call, bedrockDialect, { status: 404, message: `UnknownOperationException ${call.method} ${call.path}` });
}

interface Options {
  readonly model: string;
  readonly stream: boolean;
}

async function converse(call: ProviderCall, { stream }: Options): Promise<void> {
  if (!accepts(call, bedrockDialect, [converseCheck, rules])) return;
  const context = scripted(askedOf(call.body));
  await reply(call, {
    dialect: bedrockDialect,
    script: context.script,
    headers: { 'x-amzn-requestid': 'req-sim' },
    whole: () => whole(context),
    stream: stream
      ? { type: EVENT_STREAM, events: () => events(context), fault: () => exception('modelStreamErrorException') }
      : null,
  });
}

/** What the schema does not say. */
function rules(value: unknown): string | null {
  const body = object(value);
  const all = objects(body['messages']);
  if (all.length > 0 && all[0]?.['role'] !== 'user') return 'A conversation must start with a user message.';
  let open: readonly string[] = [];
  let tools = false;
  for (const [index, { role, content }] of all.entries()) {
    if (index > 0 && all[index - 1]?.['role'] === role)
      return `messages.${index}: roles must alternate between "user" and "assistant"`;
    const results = objects(content)
      .flatMap((block) => block['toolResult'] ?? [])
      .map((result) => text(object(result)['toolUseId']));
    tools ||= results.length > 0;
    if (open.join() !== '' && open.some((id) => !results.includes(id)))
      return `Expected toolResult blocks at messages.${index}.content for the following Ids: ${open.join(', ')}`;
    if (results.some((id) => !open.includes(id)))
      return `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`;
    open = objects(content)
      .flatMap((block) => block['toolUse'] ?? [])
      .map((use) => text(object(use)['toolUseId']));
    tools ||= open.length > 0;
  }
  if (open.length > 0) return 'toolUse blocks without toolResult blocks';
  const wrong = thinkingRule(body);
  if (wrong !== null) return wrong;
  if (tools && body['toolConfig'] === undefined)
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.';
  const points = JSON.stringify(body).match(/"cachePoint":/g)?.length ?? 0;
  return points > 4 ? `at most 4 cache points, found ${points}` : null;
}

/** A model that thinks wants its thoughts back, and its sampling left alone. */
function thinkingRule(body: Json): string | null {
  if (object(object(body['additionalModelRequestFields'])['thinking'])['type'] !== 'enabled') return null;
  const inference = object(body['inferenceConfig']);
  if (inference['temperature'] !== undefined && inference['temperature'] !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled';
  const [called, answered] = objects(body['messages']).slice(-2);
  const goesOn = objects(answered?.['content']).some(({ toolResult }) => toolResult !== undefined);
  if (goesOn && objects(called?.['content'])[0]?.['reasoningContent'] === undefined)
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.';
  const { auto } = object(object(body['toolConfig'])['toolChoice'] ?? { auto: {} });
  return auto === undefined ? 'Thinking may not be enabled when tool_choice forces tool use.' : null;
}

function askedOf(body: Json): Asked {
  const turn = objects(body['messages']).findLast(({ role }) => role === 'user');
  const blocks = objects(turn?.['content']);
  const results = blocks.flatMap((block) => (block['toolResult'] === undefined ? [] : [object(block['toolResult'])]));
  return {
    prompt: contentText(blocks),
    toolResults: results.map(({ content }) =>
      objects(content)
        .map((part) => (part['json'] === undefined ? text(part['text']) : JSON.stringify(part['json'])))
        .join('\n'),
    ),
    images: blocks.filter((block) => block['image'] !== undefined).length,
  };
}

const STOPS = { stop: 'end_turn', length: 'max_tokens', refusal: 'content_filtered' } as const;

function stopOf({ stop, calls }: Script): string {
  return stop === 'stop' && calls.length > 0 ? 'tool_use' : STOPS[stop];
}

function usageOf({ input, cached, output }: Counted): Json {
  return {
    inputTokens: input - cached,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: 0,
  };
}

function whole({ script, counted }: Scripted): Json {
  const said = script.pieces.join('');
  const content = [
    ...(script.reasoning === null
      ? []
      : [{ reasoningContent: { reasoningText: { text: script.reasoning, signature: 'sig-sim' } } }]),
    ...(said === '' ? [] : [{ text: said }]),
    ...script.calls.map(({ name, arguments: given }, index) => ({
      toolUse: { toolUseId: `tooluse_${index + 1}`, name, input: JSON.parse(given === '' ? '{}' : given) },
    })),
  ];
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: stopOf(script),
    usage: usageOf(counted),
    metrics: { latencyMs: 1 },
  };
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (string) => Buffer.from(string, 'utf8'),
);

function header(value: string): { readonly type: 'string'; readonly value: string } {
  return { type: 'string', value };
}

/** One frame as Bedrock writes it. */
export function frame(type: string, payload: Json): Buffer {
  const headers = {
    ':event-type': header(type),
    ':content-type': header('application/json'),
    ':message-type': header('event'),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }));
}

function exception(type: string): Buffer {
  const headers = {
    ':exception-type': header(type),
    ':content-type': header('application/json'),
    ':message-type': header('exception'),
  };
  return Buffer.from(
    codec.encode({ headers, body: Buffer.from(JSON.stringify({ message: 'simulated stream error' })) }),
  );
}

function* events({ script, counted }: Scripted): Generator<Event> {
  let index = 0;
  const delta = (fields: Json): Event => ({
    data: frame('contentBlockDelta', { contentBlockIndex: index, delta: fields }),
    piece: true,
  });
  const stop = (): Event => ({ data: frame('contentBlockStop', { contentBlockIndex: index++ }) });
  yield { data: frame('messageStart', { role: 'assistant' }) };
  if (script.reasoning !== null) {
    yield delta({ reasoningContent: { text: script.reasoning } });
    yield delta({ reasoningContent: { signature: 'sig-sim' } });
    yield stop();
  }
  if (script.pieces.length > 0) {
    for (const piece of script.pieces) yield delta({ text: piece });
    yield stop();
  }
  for (const [at, { name, arguments: given }] of script.calls.entries()) {
    const start = { toolUse: { toolUseId: `tooluse_${at + 1}`, name } };
    yield { data: frame('contentBlockStart', { contentBlockIndex: index, start }) };
    for (const fragment of fragments(given)) yield delta({ toolUse: { input: fragment } });
    yield stop();
  }
  yield { data: frame('messageStop', { stopReason: stopOf(script) }) };
  yield { data: frame('metadata', { usage: usageOf(counted), metrics: { latencyMs: 1 } }) };
}

// ── bodies of the models' own ──

async function invoke(call: ProviderCall, { model, stream }: Options): Promise<void> {
  if (model.includes('anthropic.')) {
    return messages(call, {
      check: cloudMessagesCheck,
      model,
      stream,
      framed: {
        type: EVENT_STREAM,
        frame: (event) => frame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') }),
      },
    });
  }
  if (model.includes('nova')) return nova(call);
  return model.includes('cohere') ? cohereEmbed(call) : titan(call);
}

function titan(call: ProviderCall): void {
  if (!accepts(call, bedrockDialect, [titanCheck])) return;
  const input = text(call.body['inputText']);
  const embedding = vectorOf(input, Number(call.body['dimensions'] ?? 8));
  const binary = Array.isArray(call.body['embeddingTypes']) && call.body['embeddingTypes'].includes('binary');
  const bits = embedding.map((value) => (value > 0 ? 1 : 0));
  sendJson(call, 200, {
    ...(binary ? {} : { embedding }),
    embeddingsByType: binary ? { binary: bits } : { float: embedding },
    inputTextTokenCount: tokensOf(input),
  });
}

function cohereEmbed(call: ProviderCall): void {
  if (!accepts(call, bedrockDialect, [cohereEmbedCheck])) return;
  const texts = Array.isArray(call.body['texts']) ? call.body['texts'].map(String) : [];
  const size = Number(call.body['output_dimension'] ?? 8);
  const embeddings = texts.map((each) => vectorOf(each, size));
  const typed = call.body['embedding_types'] !== undefined;
  sendJson(
    call,
    200,
    {
      id: 'embed-sim',
      response_type: typed ? 'embeddings_by_type' : 'embeddings_floats',
      embeddings: typed ? { float: embeddings } : embeddings,
      texts,
    },
    { 'x-amzn-bedrock-input-token-count': String(texts.reduce((sum, each) => sum + tokensOf(each), 0)) },
  );
}

function nova(call: ProviderCall): void {
  if (!accepts(call, bedrockDialect, [novaCheck])) return;
  const params = object(call.body['singleEmbeddingParams']);
  const value = text(object(params['text'])['value']);
  const embedding = vectorOf(value, Number(params['embeddingDimension'] ?? 8));
  sendJson(
    call,
    200,
    { embeddings: [{ embeddingType: 'TEXT', embedding }] },
    { 'x-amzn-bedrock-input-token-count': String(tokensOf(value)) },
  );
}

function countTokens(call: ProviderCall): void {
  if (!accepts(call, bedrockDialect, [countTokensCheck, wrapped])) return;
  const body = text(object(object(call.body['input'])['invokeModel'])['body']);
  const asked = object(JSON.parse(Buffer.from(body, 'base64').toString('utf8')));
  sendJson(call, 200, {
    inputTokens:
      10 +
      tokensOf(
        objects(asked['messages'])
          .map(({ content }) => contentText(content))
          .join(' '),
      ),
  });
}

function wrapped(value: unknown): string | null {
  const invokeModel = object(object(object(value)['input'])['invokeModel']);
  if (invokeModel['body'] === undefined) return null;
  try {
    return cloudMessagesCheck(JSON.parse(Buffer.from(text(invokeModel['body']), 'base64').toString('utf8')));
  } catch {
    return 'body is not JSON';
  }
}

function rerank(call: ProviderCall): void {
  if (!accepts(call, bedrockDialect, [bedrockRerankCheck])) return;
  const query = text(object(objects(call.body['queries'])[0]?.['textQuery'])['text']);
  const documents = objects(call.body['sources']).map((source) => {
    const { textDocument, jsonDocument } = object(source['inlineDocumentSource']);
    return jsonDocument === undefined ? text(object(textDocument)['text']) : JSON.stringify(jsonDocument);
  });
  const config = object(object(call.body['rerankingConfiguration'])['bedrockRerankingConfiguration']);
  const top = Number(config['numberOfResults'] ?? documents.length);
  if (top > documents.length)
    return refuse(call, bedrockDialect, { status: 400, message: 'numberOfResults exceeds the sources' });
  const results = ranked(query, documents).slice(0, top);
  sendJson(call, 200, {
    results: results.map(({ index, relevance_score: relevanceScore }) => ({ index, relevanceScore })),
  });
}
