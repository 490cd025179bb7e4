import {
  accepts,
  type Dialect,
  type Event,
  type Json,
  object,
  objects,
  type ProviderCall,
  refuse,
  reply,
  sendJson,
  sse,
  text,
} from '../call.ts';
import { generateCheck, geminiCountCheck } from '../schema/gemini.ts';
import { type Asked, type Script, type Scripted, scripted } from '../script.ts';

export const googleDialect: Dialect = {
  error: (status, message) => ({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } }),
};

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The actions of a Gemini model; `model` is what the path names. */
export async function geminiAction(call: ProviderCall, model: string, action: string): Promise<void> {
  switch (action) {
    case 'generateContent':
      return generate(call, { model, stream: false });
    case 'streamGenerateContent':
      return generate(call, { model, stream: true });
    case 'countTokens': {
      if (!accepts(call, googleDialect, [geminiCountCheck])) return;
      const body =
        call.body['contents'] === undefined
          ? object(call.body['generateContentRequest'] ?? call.body['generate_content_request'])
          : call.body;
      return sendJson(call, 200, { totalTokens: scripted(askedOf(body)).counted.input });
    }
    default:
      return refuse(call, googleDialect, { status: 404, message: `unknown action ${action}` });
  }
}

async function generate(
  call: ProviderCall,
  { model, stream }: { readonly model: string; readonly stream: boolean },
): Promise<void> {
  if (!accepts(call, googleDialect, [generateCheck, rules])) return;
  const context = { model, ...scripted(askedOf(call.body)), thoughts: showsThoughts(call.body) };
  const asSse = call.query.get('alt') === 'sse';
  await reply(call, {
    dialect: googleDialect,
    script: context.script,
    whole: () => answer(context, { parts: partsOf(context, context.script.pieces), last: true }),
    stream: stream
      ? {
          type: asSse ? 'text/event-stream' : 'application/json',
          events: () => framed(events(context), asSse),
          fault: () => sse(googleDialect.error(503, 'simulated stream error')),
        }
      : null,
  });
}

interface Context extends Scripted {
  readonly model: string;
  readonly thoughts: boolean;
}

/** What the schema does not say. */
function rules(value: unknown): string | null {
  const body = object(value);
  const contents = objects(body['contents']);
  for (const [index, { parts }] of contents.entries()) {
    const calls = objects(parts).filter((part) => part['functionCall'] !== undefined).length;
    if (calls === 0 || index + 1 >= contents.length) continue;
    const answers = objects(contents[index + 1]?.['parts']).filter(
      (part) => part['functionResponse'] !== undefined,
    ).length;
    if (answers !== calls)
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  for (const [index, { parts }] of contents.entries()) {
    const kinds = objects(parts).map((part) => (part['functionResponse'] === undefined ? 'other' : 'response'));
    if (new Set(kinds).size > 1) return `contents[${index}]: function responses stand alone`;
  }
  const config = object(body['generationConfig']);
  if (config['responseSchema'] !== undefined && config['responseMimeType'] === undefined)
    return 'responseSchema needs a responseMimeType';
  return null;
}

function showsThoughts(body: Json): boolean {
  const config = object(body['generationConfig'] ?? body['generation_config']);
  const thinking = object(config['thinkingConfig'] ?? config['thinking_config']);
  return thinking['includeThoughts'] === true || thinking['include_thoughts'] === true;
}

function askedOf(body: Json): Asked {
  const contents = objects(body['contents']);
  const last = contents.findLastIndex(({ role }) => role === 'model');
  const parts = contents.slice(last + 1).flatMap(({ parts: each }) => objects(each));
  const response = (part: Json): unknown => part['functionResponse'] ?? part['function_response'];
  return {
    prompt: parts
      .map((part) => text(part['text']))
      .filter((each) => each.trim() !== '')
      .join('\n'),
    toolResults: parts
      .filter((part) => response(part) !== undefined)
      .map((part) => told(object(object(response(part))['response']))),
    images: parts.filter(
      (part) => (part['inlineData'] ?? part['inline_data'] ?? part['fileData'] ?? part['file_data']) !== undefined,
    ).length,
  };
}

/** A response that is but a text is that text. */
function told(response: Json): string {
  const values = Object.values(response);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(response);
}

function partsOf({ script, thoughts }: Context, pieces: readonly string[]): readonly Json[] {
  const said = pieces.join('');
  return [
    ...(thoughts && script.reasoning !== null ? [{ text: script.reasoning, thought: true }] : []),
    ...(said === '' ? [] : [{ text: said }]),
    ...callParts(script),
  ];
}

/** The first of parallel calls carries the signature of the thoughts before it. */
function callParts({ calls, reasoning }: Script): readonly Json[] {
  return calls.map(({ name, arguments: given }, index) => ({
    functionCall: { name, args: JSON.parse(given === '' ? '{}' : given) },
    ...(reasoning !== null && index === 0 ? { thoughtSignature: 'c2lnLXNpbQ==' } : {}),
  }));
}

const FINISH = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;

function answer(
  { model, script, counted }: Context,
  { parts, last }: { readonly parts: readonly Json[]; readonly last: boolean },
): Json {
  const { input, cached, output, reasoning } = counted;
  const usageMetadata = {
    promptTokenCount: input,
    ...(last ? { candidatesTokenCount: output - reasoning } : {}),
    totalTokenCount: last ? input + output : input,
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: input }],
  };
  const refused = script.stop === 'refusal';
  return {
    candidates: [
      {
        ...(refused && last ? {} : { content: { parts, role: 'model' } }),
        ...(last ? { finishReason: FINISH[script.stop] } : {}),
        index: 0,
      },
    ],
    usageMetadata,
    modelVersion: model,
    responseId: 'resp-sim',
  };
}

function* events(context: Context): Generator<{ readonly event: Json; readonly piece: boolean }> {
  const { script, thoughts } = context;
  const whole: readonly Json[][] = [
    ...(thoughts && script.reasoning !== null ? [[{ text: script.reasoning, thought: true }]] : []),
    ...(script.stop === 'refusal' ? [] : script.pieces.map((piece) => [{ text: piece }])),
    ...callParts(script).map((part) => [part]),
  ];
  for (const [index, parts] of whole.entries()) {
    const last = index === whole.length - 1 && script.stop !== 'refusal';
    yield { event: answer(context, { parts, last }), piece: true };
  }
  if (script.stop === 'refusal' || whole.length === 0)
    yield { event: answer(context, { parts: [], last: true }), piece: false };
}

/** Without `alt=sse`, the stream is one list of JSON. */
function* framed(all: Iterable<{ readonly event: Json; readonly piece: boolean }>, asSse: boolean): Generator<Event> {
  let first = true;
  for (const { event, piece } of all) {
    yield {
      data: asSse ? sse(event).replace(/\n/g, '\r\n') : `${first ? '[' : ',\r\n'}${JSON.stringify(event)}`,
      piece,
    };
    first = false;
  }
  if (!asSse) yield { data: first ? '[]' : ']' };
}
