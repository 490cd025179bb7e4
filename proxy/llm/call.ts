import type { JsonObject } from '../exchange/attributes.ts';
import { BufferedBody } from '../exchange/body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { Headers } from '../exchange/headers.ts';
import { LlmFacts } from '../exchange/llm-facts.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { pathOf } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { Outcome } from '../policy/contract.ts';
import { next } from '../policy/contract.ts';
import type { LlmContents } from '../expression/contract.ts';
import { reportBody } from '../telemetry/body-recorder.ts';
import { LlmAnswer } from './answer.ts';
import { promptOf } from './contents/prompt.ts';
import { detectedRequest, isJson, watchAnswer } from './detect/watch.ts';
import { badRequest, failureOf, type LlmFailure } from './failure.ts';
import { shownNames } from './formats.ts';
import { bool, text } from './json.ts';
import type { ReadRequest } from './models/requested.ts';
import { paramsOf } from './params.ts';
import { isAzureTarget, pathModel, pathStreams } from './path-model.ts';
import type { Plan, ProviderRequest } from './providers/contract.ts';
import { isChat, isOpaque, upstreamFormat } from './providers/plan.ts';
import { jsonBody, readBody, type ReadOptions } from './read-body.ts';
import { queryModel, watchRealtime, withQueryModel } from './realtime/watch.ts';
import { routeTypeOf, type RouteType, type RouteTypes } from './route-type.ts';
import type { GuardOutcome, LlmService } from './service.ts';
import type { Relay } from './guards/realtime/session.ts';
import { withTarget } from './target.ts';
import { textBytes } from './tokens/bytes.ts';
import { countTokens } from './tokens/count.ts';
import { TraceNotes } from './trace-notes.ts';
import type { TranslatedBody } from './translations/contract.ts';

export interface LlmCallOptions extends ReadOptions {
  /** What some expression reads. */
  readonly contents: LlmContents;
  /** Longest time without a byte of an answer, milliseconds. */
  readonly streamIdleTimeoutMs: number;
}

/**
 * One request to a language model. The client's body is read once; every attempt makes of it what the service of that
 * attempt wants, and of the answer what the client understands.
 */
export class LlmCall {
  readonly exchange: Exchange;
  readonly facts = new LlmFacts();
  /** How the client's formats are told apart. */
  types: RouteTypes = [];
  /** What the service of the attempt in hand is asked. */
  asked: ProviderRequest = { routeType: 'completions', model: '', streaming: false };
  readonly #deps: LlmCallOptions;
  /** Path of the client, before any service's own takes its place. */
  readonly #path: string;
  readonly #isRead: boolean;
  /** Whether a trace has the client's body. */
  #isTold = false;
  #bytes: Uint8Array = new Uint8Array(0);
  #original: JsonObject | null = null;
  #attempt: Attempt | null = null;

  /** `read` is the body, where finding the model has read it. */
  constructor(exchange: Exchange, deps: LlmCallOptions, read: ReadRequest | null = null) {
    this.exchange = exchange;
    this.#deps = deps;
    this.#isRead = read !== null;
    if (read !== null) {
      this.#bytes = read.bytes;
      this.#original = read.json;
    }
    this.#path = pathOf(exchange.request.target);
    exchange.attributes.llm = this.facts;
  }

  /**
   * Reads the body, once for all attempts, when one of the services has to understand it. Null when it is read, or nobody
   * has to.
   */
  async read(services: readonly Pick<LlmService, 'types'>[]): Promise<Refusal | null> {
    this.types = services[0]?.types ?? [];
    if (this.#isRead || !services.some(({ types }) => this.#reads(routeTypeOf(this.#path, types)))) return null;
    const read = await readBody(this.exchange, this.#deps);
    if (read.kind === 'refused') return read.refusal;
    this.#bytes = read.bytes;
    return null;
  }

  /** Files and forms that nobody has to understand flow, however large they are. */
  #reads(type: RouteType): boolean {
    if (type === 'detect') return isJson(this.exchange.request.headers.get('content-type'));
    return !unread.has(type);
  }

  /** Makes the request one for the service. `respond` when no call is needed. */
  request(service: LlmService): Outcome | Promise<Outcome> {
    this.facts.beginAttempt();
    const type = routeTypeOf(this.#path, service.types);
    this.facts.routeType = shownNames[type];
    this.facts.provider = service.provider.identity;
    this.#traceRoute(type);
    if (type === 'models') return noModels();
    if (type === 'passthrough') return this.#opaque(service, { type, body: null });
    if (type === 'realtime') return this.#realtime(service);
    if (type === 'detect') {
      const body = detectedRequest(this.exchange.request.headers.get('content-type'), this.#bytes);
      return this.#opaque(service, { type, body });
    }
    try {
      // Not kept while the service is waited for: what dies young costs less than to read it again for another attempt.
      const original = this.#original ?? jsonBody(this.#bytes);
      this.#original = null;
      const outcome = this.#typed(service, type, original);
      return outcome instanceof Promise ? outcome.catch(failed) : outcome;
    } catch (error) {
      return failed(error);
    }
  }

  /** The body of the client is told once, whatever the attempts make of it. */
  #traceRoute(type: RouteType): void {
    const { trace } = this.exchange;
    if (trace === null) return;
    trace.emit({ type: 'llmRouteResolved', provider: this.facts.provider, routeType: shownNames[type] });
    if (this.#isTold || unread.has(type)) return;
    this.#isTold = true;
    reportBody(this.#bytes, trace, { stage: 'llm request before translation', limit: this.#deps.limitBytes });
  }

  /** Of the texts that the model has read, as the client wrote them. */
  get promptBytes(): number {
    return this.#attempt === null ? 0 : textBytes(this.#bytes, this.#attempt.type);
  }

  /** What the client gets for the answer of the service that was asked last; null leaves it as it is. */
  answer(response: HttpResponse): Refusal | Promise<Refusal | null> | null {
    const attempt = this.#attempt;
    if (attempt === null || attempt.service.uncalled === true) return null;
    if (attempt.type === 'passthrough' || attempt.type === 'realtime') return null;
    if (attempt.type === 'detect') {
      watchAnswer(response, { ...this.#deps, facts: this.facts, startedAt: this.exchange.startedAt });
      return null;
    }
    return new LlmAnswer(this.exchange, this.facts, { ...attempt, ...this.#deps }).take(response);
  }

  /** What the bytes of a tunnel pass on their way; null where nobody has to look at them first. */
  relay(): Relay | null {
    const attempt = this.#attempt;
    if (attempt?.type !== 'realtime') return null;
    return attempt.service.guards.realtime?.(this.exchange, this.#deps.limitBytes) ?? null;
  }

  /** Looks at the bytes that the service sends through a tunnel; null where nobody has to. */
  tunnelled(): ((chunk: Buffer) => void) | null {
    return this.#attempt?.type === 'realtime' ? watchRealtime(this.facts, this.#deps.limitBytes) : null;
  }

  /** Bodies that leave as they came; what they tell is read where it can be. */
  #opaque(
    service: LlmService,
    { type, body }: { readonly type: 'passthrough' | 'detect'; readonly body: JsonObject | null },
  ): Outcome {
    const { request } = this.exchange;
    const inPath = pathModel(this.#path);
    const pinned = body !== null && inPath === undefined ? this.#pinned(body, service, type) : body;
    const model = inPath ?? text(pinned?.['model']) ?? service.settings.model ?? '';
    const streaming = bool(pinned?.['stream']) === true || pathStreams(this.#path);
    const facts: ProviderRequest = { routeType: type, model, streaming };
    const plan = service.provider.plan(facts);
    if (plan.kind === 'unsupported') return failed(unsupported(service, type));
    this.#tell(pinned ?? {}, facts);
    if (pinned !== null) {
      const final = service.finalize === null ? pinned : service.finalize(this.exchange, pinned, type);
      if (final !== body) {
        request.body = new BufferedBody(Buffer.from(JSON.stringify(final)));
        request.headers.remove('content-length');
      }
    }
    return this.#planned(service, { facts, plan });
  }

  #realtime(service: LlmService): Outcome {
    const { request } = this.exchange;
    const { model: pinned } = service.settings;
    if (pinned !== undefined) request.target = withQueryModel(request.target, pinned);
    // Compressed frames cannot be read; a server that is not asked to compress does not.
    if (request.upgrade !== null) request.headers.remove('sec-websocket-extensions');
    const facts: ProviderRequest = { routeType: 'realtime', model: queryModel(request.target), streaming: false };
    const plan = service.provider.plan(facts);
    if (plan.kind === 'unsupported') return failed(unsupported(service, 'realtime'));
    this.#tell({}, facts);
    return this.#planned(service, { facts, plan });
  }

  #planned(service: LlmService, { facts, plan }: { readonly facts: ProviderRequest; readonly plan: Plan }): Outcome {
    this.asked = facts;
    this.facts.excludesCache = service.provider.excludesCache(facts.model, plan);
    this.#attempt = { service, type: facts.routeType, plan, translated: null, streaming: facts.streaming };
    withTarget(this.exchange, { service, facts, plan });
    return next;
  }

  /** A promise only where somebody has to be asked. */
  #typed(service: LlmService, type: RouteType, original: JsonObject): Outcome | Promise<Outcome> {
    const { exchange } = this;
    const pinned = this.#pinned(original, service, type);
    const mutated = service.mutate === null ? pinned : service.mutate(exchange, pinned, type);
    const asked = text(mutated['model']);
    if (asked === undefined) throw badRequest('missing field: model not specified');
    const model = service.alias(asked);
    const named = model === asked ? mutated : { ...mutated, model };
    const streaming = bool(named['stream']) === true || pathStreams(this.#path);
    const facts: ProviderRequest = { routeType: type, model, streaming };
    if (type === 'generateContent' && streaming && !ASKS_EVENTS.test(exchange.request.target))
      throw badRequest('a stream of generateContent needs `alt=sse` in its query');
    const plan = service.provider.plan(facts);
    if (plan.kind === 'unsupported') throw unsupported(service, type, model);
    this.#tell(named, facts);
    const enriched = service.enrich === null ? named : service.enrich(exchange, named, type);
    const planned: Planned = { original, written: named, facts, plan };
    const guard = isChat(type) ? service.guards.request : null;
    if (guard === null || !isChat(type)) return this.#admitted(service, enriched, planned);
    const admit = (guarded: GuardOutcome): Outcome | Promise<Outcome> => {
      if (guarded.kind !== 'pass') return guarded;
      // Written anew: of two fields of one name, the service might read the one that nobody has looked at.
      return this.#admitted(service, guarded.body === original ? { ...original } : guarded.body, planned);
    };
    const guarded = guard(exchange, enriched, type, exchange.request.headers);
    return guarded instanceof Promise ? guarded.then(admit) : admit(guarded);
  }

  /** What guards have let pass. */
  #admitted(service: LlmService, body: JsonObject, planned: Planned): Outcome | Promise<Outcome> {
    const { facts, plan } = planned;
    const { routeType: type, model } = facts;
    if (this.#deps.contents.prompt) this.facts.prompt = promptOf(type, body);
    if (plan.kind === 'local') return this.#counted(model, body, type);
    if (!service.settings.tokenize || !isChat(type)) return this.#render(service, body, { ...planned, plan });
    return countTokens(model, body, type).then((count) => {
      this.facts.countedTokens = count;
      return this.#render(service, body, { ...planned, plan });
    });
  }

  /** A model that the configuration or the path names takes the place of the body's. */
  #pinned(body: JsonObject, { settings }: LlmService, type: RouteType): JsonObject {
    if (settings.model !== undefined) return { ...body, model: settings.model };
    const named = pathModel(this.#path);
    if (named === undefined) return body;
    // Azure, too, never looks at the body's.
    const pathWins = type === 'generateContent' || body['model'] === undefined || isAzureTarget(this.#path);
    return pathWins ? { ...body, model: named } : body;
  }

  /** The gateway counts by itself, and nobody is called. */
  async #counted(model: string, body: JsonObject, type: RouteType): Promise<Outcome> {
    const count = await countTokens(model, body, type);
    this.facts.countTokens = count;
    const headers = Headers.from([['content-type', 'application/json']]);
    const bytes = Buffer.from(JSON.stringify({ input_tokens: count }));
    return {
      kind: 'respond',
      response: { status: 200, headers, body: new BufferedBody(bytes) },
      policy: 'countTokens',
    };
  }

  #render(
    service: LlmService,
    body: JsonObject,
    { original, written, facts, plan }: Planned & { readonly plan: Exclude<Plan, { kind: 'local' | 'unsupported' }> },
  ): Outcome {
    const { exchange } = this;
    const { request, trace } = exchange;
    const translated =
      plan.kind === 'native' ? null : this.#translated(service, body, { original, written, facts, plan });
    const spoken = translated?.body ?? body;
    const adapted = plan.kind === 'reshaped' ? spoken : (plan.adapt?.(spoken, facts) ?? spoken);
    const final = service.finalize === null ? adapted : service.finalize(exchange, adapted, facts.routeType);
    // What nobody changed leaves as it came.
    if (final !== original) {
      request.body = new BufferedBody(Buffer.from(JSON.stringify(final)));
      request.headers.remove('content-length');
    }
    request.headers.set('content-type', 'application/json');
    this.asked = facts;
    this.#attempt = { service, type: facts.routeType, plan, translated, streaming: facts.streaming };
    withTarget(exchange, { service, facts, plan });
    if (trace === null) return next;
    const upstream = upstreamFormat(plan);
    trace.emit({
      type: 'llmRequestDetected',
      provider: service.provider.identity,
      inputFormat: shownNames[facts.routeType],
      upstreamRouteType: upstream === null ? null : shownNames[upstream],
      requestModel: facts.model,
      streaming: facts.streaming,
    });
    return next;
  }

  #translated(service: LlmService, body: JsonObject, { original, written, facts, plan }: Translating): TranslatedBody {
    const { settings, policy } = service;
    const notes = new TraceNotes(this.exchange.trace);
    const bedrock = settings.service.kind === 'bedrock' ? settings.service : null;
    const translated = plan.translation.begin(
      body,
      {
        model: facts.model,
        streaming: facts.streaming,
        headers: this.exchange.request.headers,
        promptCaching: policy.promptCaching ?? null,
        guardrail: bedrock?.guardrail ?? null,
        region: bedrock?.region ?? null,
        betas: bedrock?.betas ?? null,
      },
      notes,
    );
    notes.settle(plan.translation, {
      onUnsupported: policy.onUnsupported ?? 'warn',
      // What the configuration has written, or written over, is not what the client asked for.
      isClients: (field) => written[field] === undefined || written[field] === original[field],
    });
    return translated;
  }

  #tell(body: JsonObject, { model, streaming }: ProviderRequest): void {
    this.facts.requestModel = model;
    this.facts.streaming = streaming;
    this.facts.params = paramsOf(body);
  }
}

/** Without it, Gemini streams one long JSON list. */
const ASKS_EVENTS = /[?&]alt=sse(?:&|$)/;

/** Requests whose bodies are not read. */
const unread: ReadonlySet<RouteType> = new Set<RouteType>(['passthrough', 'realtime', 'models']);

/** Lists of models are made where several models stand behind one address. */
function noModels(): Outcome {
  const headers = Headers.from([['content-type', 'application/json']]);
  const body = new BufferedBody(Buffer.from(JSON.stringify({ error: "Route 'Models' not implemented" })));
  return { kind: 'respond', response: { status: 501, headers, body }, policy: 'models' };
}

interface Planned {
  /** As the client wrote it. */
  readonly original: JsonObject;
  /** As the configuration has made it: fields that it did not write are those of `original`. */
  readonly written: JsonObject;
  readonly facts: ProviderRequest;
  readonly plan: Exclude<Plan, { kind: 'unsupported' }>;
}

interface Translating extends Planned {
  readonly plan: Plan & { readonly kind: 'translated' | 'reshaped' };
}

/** How the request of one attempt was made, which its answer depends on. */
export interface Attempt {
  readonly service: LlmService;
  readonly type: RouteType;
  readonly plan: Plan;
  readonly translated: TranslatedBody | null;
  readonly streaming: boolean;
}

function unsupported({ provider }: LlmService, type: RouteType, model = ''): LlmFailure {
  const what = isOpaque(type) ? type : shownNames[type];
  const which = model === '' ? '' : ` for the model ${JSON.stringify(model)}`;
  return badRequest(`unsupported conversion: ${provider.identity} cannot take ${what} requests${which}`);
}

function failed(error: unknown): Outcome {
  const failure = failureOf(error, 'request');
  if (failure !== undefined) return { kind: 'fail', refusal: failure.refusal('request') };
  throw error;
}
