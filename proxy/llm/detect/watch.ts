import type { HttpResponse } from '../../exchange/message.ts';
import type { LlmFacts } from '../../exchange/llm-facts.ts';
import { isJsonObject, type JsonObject } from '../../exchange/attributes.ts';
import { wireFormat } from '../formats/registry.ts';
import { parseObject, text } from '../json.ts';
import { AwsEventStreamDecoder } from '../stream/aws-event-stream.ts';
import { codingOf, decodersOf } from '../../exchange/coding/content-coding.ts';
import type { IdleLimit } from '../stream/idle-watch.ts';
import { SseDecoder } from '../../exchange/sse/sse-decoder.ts';
import { overwrite } from '../usage/told.ts';
import { closedFrames } from './closed-frames.ts';
import { detectedTold } from './told.ts';
import { lookedAtBody, type Onlooker } from '../../exchange/looked-at-body.ts';

export interface WatchOptions extends IdleLimit {
  readonly facts: LlmFacts;
  /** `performance.now()` at the arrival of the request. */
  readonly startedAt: number;
  /** Of what is held of an answer, or of one event of it; beyond it, nothing is read. */
  readonly limitBytes: number;
}

/** Lets an answer pass as it is, and reads from it what it tells: from JSON, and from streams of it. */
export function watchAnswer(response: HttpResponse, options: WatchOptions): void {
  const { headers } = response;
  const type = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const coding = codingOf(headers);
  // Nobody has to look at what is compressed twice.
  if (coding === undefined || (coding?.length ?? 0) > 1 || response.status < 200 || response.status >= 300) return;
  countedInHeaders(response, options.facts);
  const onlooker = onlookerFor(type, options);
  if (onlooker === null) return;
  const decoder = coding === null ? null : (decodersOf(coding)[0] ?? null);
  // Without an onlooker for errors, broken data would end the process.
  decoder?.on('error', () => {});
  const passing = lookedAtBody(response.body, onlooker, decoder);
  const mayGrow = type === FRAMES && decoder === null && passing.length === null;
  response.body = mayGrow ? closedFrames(passing, options) : passing;
}

const FRAMES = 'application/vnd.amazon.eventstream';

function onlookerFor(type: string | undefined, options: WatchOptions): Onlooker | null {
  switch (type) {
    case 'application/json':
      return new WholeAnswer(options);
    case 'text/event-stream':
      return new EventAnswer(options, (onEvent, limit) => new SseDecoder({ event: onEvent }, limit));
    case FRAMES:
      return new EventAnswer(options, awsDecoder);
    default:
      return null;
  }
}

/** Bedrock tells of models that have bodies of their own. */
function countedInHeaders({ headers }: HttpResponse, facts: LlmFacts): void {
  const input = count(headers.get('x-amzn-bedrock-input-token-count'));
  const output = count(headers.get('x-amzn-bedrock-output-token-count'));
  if (input === undefined && output === undefined) return;
  overwrite(facts, { usage: { inputTokens: input, outputTokens: output } });
}

function count(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

class WholeAnswer implements Onlooker {
  readonly #options: WatchOptions;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= this.#options.limitBytes) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  end(whole: boolean): void {
    if (!whole || this.#bytes > this.#options.limitBytes) return;
    const body = parseObject(Buffer.concat(this.#chunks).toString('utf8'));
    this.#chunks = [];
    if (body !== undefined) overwrite(this.#options.facts, detectedTold(body));
  }
}

type OnEvent = (name: string | null, data: string) => void;

interface Decoder {
  push(chunk: Uint8Array): void;
  end(): void;
}

class EventAnswer implements Onlooker {
  readonly #options: WatchOptions;
  #decoder: Decoder | null;
  #firstTextAt: number | null = null;

  constructor(options: WatchOptions, decoder: (onEvent: OnEvent, limit: number) => Decoder) {
    this.#options = options;
    this.#decoder = decoder((name, data) => this.#event(name, data), options.limitBytes);
  }

  push(chunk: Uint8Array): void {
    this.#guarded((decoder) => decoder.push(chunk));
  }

  end(whole: boolean): void {
    if (whole) this.#guarded((decoder) => decoder.end());
    this.#decoder = null;
    const { facts } = this.#options;
    const output = facts.usage?.outputTokens ?? 0;
    if (this.#firstTextAt !== null && output > 1)
      facts.timePerOutputTokenMs = (performance.now() - this.#firstTextAt) / (output - 1);
  }

  /** What cannot be read is not read on; it passes all the same. */
  #guarded(step: (decoder: Decoder) => void): void {
    if (this.#decoder === null) return;
    try {
      step(this.#decoder);
    } catch {
      this.#decoder = null;
    }
  }

  #event(name: string | null, source: string): void {
    if (this.#firstTextAt !== null && !TELLS.test(source)) return;
    const data = unwrapped(parseObject(source));
    if (data === undefined) return;
    const told = detectedTold(data);
    overwrite(this.#options.facts, told);
    if (this.#firstTextAt !== null || !hasText(name, data)) return;
    this.#firstTextAt = performance.now();
    this.#options.facts.pace.textCame();
    this.#options.facts.timeToFirstTokenMs = this.#firstTextAt - this.#options.startedAt;
  }
}

/** What tells something of itself, or may once it is unwrapped. */
const TELLS = /"(?:usage|usageMetadata|bytes)"/;

const FORMATS = (['completions', 'messages', 'responses', 'generateContent', 'converse'] as const).map(wireFormat);

function hasText(name: string | null, data: JsonObject): boolean {
  return FORMATS.some((format) => (format.delta(name, data) ?? '') !== '');
}

/** Bedrock wraps the events of models that have streams of their own. */
function unwrapped(data: JsonObject | undefined): JsonObject | undefined {
  const bytes = text(data?.['bytes']);
  return bytes === undefined ? data : parseObject(Buffer.from(bytes, 'base64').toString('utf8'));
}

function awsDecoder(onEvent: OnEvent, limit: number): Decoder {
  return new AwsEventStreamDecoder(
    {
      message: (headers, payload) =>
        onEvent(
          headers.get(':event-type') ?? null,
          Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8'),
        ),
    },
    limit,
  );
}

/** Bodies of other types are not read. */
export function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** The fields of a request that is not translated; null for what is no JSON object. */
export function detectedRequest(contentType: string | undefined, bytes: Uint8Array): JsonObject | null {
  if (!isJson(contentType)) return null;
  const body = parseObject(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  return body !== undefined && isJsonObject(body) ? body : null;
}
