import { systemCodeOf } from '../../src/shared/errors.ts';
import type { JsonObject } from '../exchange/attributes.ts';
import { BufferedBody, type Body } from '../exchange/body.ts';
import { collect, joinChunks } from '../exchange/collect.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { HoldingBody } from '../exchange/holding-body.ts';
import { holdResponse } from '../exchange/held-response.ts';
import type { Headers } from '../exchange/headers.ts';
import type { LlmFacts } from '../exchange/llm-facts.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { StreamStalled } from '../exchange/stream-stalled.ts';
import { recordBody, reportBody } from '../telemetry/body-recorder.ts';
import type { Attempt, LlmCallOptions } from './call.ts';
import { contentsOf } from './contents/answer.ts';
import { GatheredContents } from './contents/gathered.ts';
import { badResponse, failureOf, type LlmFailure } from './failure.ts';
import { retryDelayMs } from './formats/gemini/retry-delay.ts';
import { bodyTold, clientFormat, wireFormat } from './formats/registry.ts';
import { type ChatFormat, shownNames } from './formats.ts';
import { list, parse, parseObject } from './json.ts';
import { isChat, upstreamFormat } from './providers/plan.ts';
import type { GuardOutcome } from './service.ts';
import { type Codings, codingOf, decoded, decodersOf } from '../exchange/coding/content-coding.ts';
import { decodedBody } from '../exchange/coding/decoded-body.ts';
import { eventBody, type Framing } from './stream/event-body.ts';
import { LlmStream } from './stream/llm-stream.ts';
import { overwrite } from './usage/told.ts';

/** The stage of a trace that has the answer as the service gave it. */
const RAW = 'llm raw response';

export interface AnswerOptions extends Attempt, LlmCallOptions {}

/** The answer of a service on its way to the client: whole, or as a stream. */
export class LlmAnswer {
  readonly #exchange: Exchange;
  readonly #facts: LlmFacts;
  readonly #options: AnswerOptions;

  constructor(exchange: Exchange, facts: LlmFacts, options: AnswerOptions) {
    this.#exchange = exchange;
    this.#facts = facts;
    this.#options = options;
    this.#facts.excludesCache = options.service.provider.excludesCache(facts.requestModel, options.plan);
  }

  /** Changes the response in place; a refusal takes its place. A promise only where there is something to wait for. */
  take(response: HttpResponse): Taken | Promise<Taken> {
    const { type, streaming } = this.#options;
    try {
      if (!isChat(type) || !streaming || !isStream(response)) {
        const taking = this.#whole(response);
        return taking instanceof Promise ? taking.catch((error: unknown) => failed(error, response)) : taking;
      }
      this.#streamed(response, type);
      return null;
    } catch (error) {
      return failed(error, response);
    }
  }

  // ── whole answers ──

  #whole(response: HttpResponse): Taken | Promise<Taken> {
    const coding = codingOf(response.headers);
    if (coding === undefined) throw badResponse('unsupported content-encoding');
    const body = new HoldingBody(response.body);
    response.body.pipe(body);
    // Small answers come with their heads: what is here already needs nobody to watch over it.
    if (!body.ended || coding !== null) return this.#awaited(response, body, coding);
    const raw = allOf(body, this.#options.limitBytes);
    return this.#read(response, { raw, bytes: raw });
  }

  async #awaited(response: HttpResponse, body: HoldingBody, coding: Codings | null): Promise<Taken> {
    const raw = body.ended ? allOf(body, this.#options.limitBytes) : await this.#collected(body);
    if ('status' in raw) return raw;
    const bytes = coding === null ? raw : await this.#decoded(raw, coding);
    return this.#read(response, { raw, bytes });
  }

  /** `raw` is the body as it came, `bytes` without its coding. */
  #read(
    response: HttpResponse,
    { raw, bytes }: { readonly raw: Uint8Array; readonly bytes: Uint8Array },
  ): Taken | Promise<Taken> {
    const { trace } = this.#exchange;
    if (trace !== null) reportBody(bytes, trace, { stage: RAW, limit: this.#options.limitBytes });
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const success = response.status < 300;
    if (response.status === 429) this.#hint(response.headers, text);
    const answer = success ? this.#success(text, response.headers) : this.#failure(response, text);
    const guarding = success ? this.#guarded(answer, text, response.headers) : null;
    const leave = (guarded: GuardOutcome | null): Taken =>
      guarded?.kind === 'fail' ? guarded.refusal : written(response, raw, guarded?.body ?? answer);
    return guarding instanceof Promise ? guarding.then(leave) : leave(guarding);
  }

  /** When to come again, where a body tells it: clients look for it in the head. */
  #hint(headers: Headers, text: string): void {
    const delayMs = retryDelayMs(text);
    if (delayMs === undefined) return;
    this.#facts.retryDelayMs = delayMs;
    if (!headers.has('retry-after')) headers.set('retry-after', String(Math.ceil(delayMs / 1000)));
  }

  async #collected(body: Body): Promise<Uint8Array | Refusal> {
    const { limitBytes } = this.#options;
    const { result, refusalFor } = await holdResponse(this.#exchange, body, {
      limits: this.#options,
      read: (watched, patience) => collect(watched, limitBytes, patience),
    });
    if (result.kind === 'failed') {
      const refusal = refusalFor(result.error);
      this.#facts.cut = refusal.reason === 'Timeout' ? new StreamStalled(refusal.message) : result.error;
      return refusal;
    }
    if (result.kind === 'whole') return result.body.bytes;
    result.rest.cancel();
    throw tooLarge();
  }

  /** What guards make of an answer; null leaves it as it is. */
  #guarded(
    answer: JsonObject | null,
    text: string,
    headers: Headers,
  ): GuardOutcome | null | Promise<GuardOutcome | null> {
    const { type, service } = this.#options;
    const guard = service.guards.response;
    if (guard === null || !isChat(type)) return null;
    const body = answer ?? parseObject(text);
    if (body === undefined) return null;
    const changed = (outcome: GuardOutcome): GuardOutcome | null => {
      if (outcome.kind !== 'pass') return outcome;
      if (outcome.body === body) return null;
      // Logs read what the client gets.
      if (this.#gathers) this.#facts.said = contentsOf(type, outcome.body);
      return outcome;
    };
    const outcome = guard(this.#exchange, body, type, headers);
    return outcome instanceof Promise ? outcome.then(changed) : changed(outcome);
  }

  async #decoded(bytes: Uint8Array, coding: Codings): Promise<Uint8Array> {
    try {
      return await decoded(bytes, coding, this.#options.limitBytes);
    } catch (error) {
      if (systemCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
      throw badResponse(`response body is not ${coding.join(', ')}`);
    }
  }

  /** The body for the client; null keeps the service's. */
  #success(text: string, headers: Headers): JsonObject | null {
    const { translated, type } = this.#options;
    const body = parseObject(text);
    if (body === undefined) {
      // Services of embeddings and rerank that have a list for an answer are nobody's to change.
      if (translated === null && !isChat(type) && list(parse(text)) !== undefined) return null;
      throw badResponse('response body is not a JSON object');
    }
    const answer = translated === null ? body : translated.response(body, headers);
    this.#tell(body, answer);
    return translated === null ? null : answer;
  }

  #failure({ status, headers }: HttpResponse, text: string): JsonObject | null {
    const { translated } = this.#options;
    if (translated === null) return null;
    const body = translated.error(status, text, headers);
    if (body === undefined) throw badResponse('error response could not be understood');
    return body;
  }

  /** `body` is the service's, `answer` the client's; of what is no chat there is but one format. */
  #tell(body: JsonObject, answer: JsonObject): void {
    const { plan, type } = this.#options;
    const format = upstreamFormat(plan);
    const told = format === null ? bodyTold(type)?.(answer) : wireFormat(format).answer(body);
    if (told !== undefined) overwrite(this.#facts, told);
    if (format !== null && this.#gathers) this.#facts.said = contentsOf(format, body);
  }

  get #gathers(): boolean {
    const { contents } = this.#options;
    return contents.completion || contents.toolCalls;
  }

  // ── streams ──

  #streamed(response: HttpResponse, type: ChatFormat): void {
    const { translated, plan, limitBytes, service, clock, streamIdleTimeoutMs } = this.#options;
    const upstream = upstreamFormat(plan) ?? 'completions';
    const framing: Framing = upstream === 'converse' ? 'aws' : 'sse';
    const coding = codingOf(response.headers);
    if (coding === undefined) throw badResponse('unsupported content-encoding');
    const plain = decodersOf(coding ?? []).reduce<Body>(decodedBody, response.body);
    const { trace } = this.#exchange;
    const source = trace === null ? plain : recordBody(plain, trace, { stage: RAW, limit: limitBytes });
    const guard = service.guards.stream?.(this.#exchange, type, response.headers.clone()) ?? null;
    const gathered = this.#gathers ? new GatheredContents(guard === null ? upstream : type) : null;
    const stream = new LlmStream({
      facts: this.#facts,
      upstream: wireFormat(upstream),
      gathered,
      client: clientFormat(type),
      translator: translated?.stream?.() ?? null,
      guard,
    });
    trace?.emit({
      type: 'llmStreamingTranslation',
      provider: this.#options.service.provider.identity,
      inputFormat: shownNames[type],
      upstreamRouteType: plan.kind === 'unsupported' ? null : shownNames[upstream],
      streamFormat: framing === 'aws' ? 'awsEventStream' : 'sseJson',
    });
    response.body = eventBody(source, {
      framing,
      limitBytes,
      clock,
      streamIdleTimeoutMs,
      verbatim: translated === null && guard === null,
      follower: (output) => stream.follow(output),
      onOver: (ending, error) => stream.over(ending, error),
    });
    response.headers.remove('content-length');
    response.headers.remove('content-encoding');
    response.headers.set('content-type', 'text/event-stream');
  }
}

/** Nothing, or what takes the place of the answer. */
type Taken = Refusal | null;

function failed(error: unknown, response: HttpResponse): Refusal {
  const failure = failureOf(error, 'response');
  if (failure === undefined) throw error;
  response.body.cancel();
  return failure.refusal('response');
}

/** What nobody has to change leaves as it came, compressed as it was. */
function written(response: HttpResponse, raw: Uint8Array, changed: JsonObject | null): null {
  response.body = new BufferedBody(changed === null ? raw : Buffer.from(JSON.stringify(changed)));
  if (changed === null) return null;
  response.headers.remove('content-encoding');
  response.headers.remove('content-length');
  response.headers.set('content-type', 'application/json');
  return null;
}

/** An error is never a stream, whatever was asked for; nor is a page, or a document, that says it is none. */
function isStream({ status, headers }: HttpResponse): boolean {
  if (status < 200 || status > 299) return false;
  return !/^(?:text\/html|application\/json)\b/i.test(headers.get('content-type') ?? '');
}

function allOf({ held, heldBytes }: HoldingBody, limitBytes: number): Uint8Array {
  if (heldBytes > limitBytes) throw tooLarge();
  return joinChunks(held);
}

function tooLarge(): LlmFailure {
  return badResponse('response body exceeded the buffer limit');
}
