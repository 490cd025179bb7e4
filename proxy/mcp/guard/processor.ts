import type { McpProcessor } from '../../../src/config/ir/policy/mcp-guardrails.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { BufferedBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import { type Authorize, serviceCredentials } from '../../policy/service-credentials.ts';
import { ServiceOutage } from '../../policy/service-outage.ts';
import { type RpcMethod, type RpcOptions, type ServiceClient, ServiceError } from '../../services/contract.ts';
import { frame } from '../../services/grpc-frames.ts';
import {
  checkMcpRequest,
  checkMcpResponse,
  type McpHeader,
  type McpRequestResult,
  type McpResponseResult,
} from '../../services/messages/mcp.ts';
import { tooDeep } from '../../services/messages/struct.ts';
import { rpcCodes } from '../message/codes.ts';
import type { RpcFailure } from '../message/message.ts';
import { Accounting, type Decided } from './accounting.ts';
import type { Guarded, GuardedCall } from './contract.ts';
import { compileMetadata, type Metadata } from './metadata.ts';
import { compileMethods, type Phase } from './methods.ts';
import { compileHeaders, headerMutation } from './request-headers.ts';
import { type Verdict, verdictOf, Violation } from './verdict.ts';

/** Covers a whole call; the policies of the connection may say something else. */
const TIMEOUT_MS = 10_000;
/** Results come back whole, with their images. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A message that processors look at, and who waits for it. */
export interface Subject {
  readonly call: GuardedCall;
  readonly phase: Phase;
  /** Parameters or result; null for requests to several targets. */
  readonly body: JsonObject | null;
  readonly signal: AbortSignal;
}

type Answer = McpRequestResult | McpResponseResult;

/** One external processor of MCP calls. */
export class Processor {
  /** Whether it looks at a phase of a method. */
  readonly looksAt: (method: string, phase: Phase) => boolean;
  readonly #client: ServiceClient;
  readonly #failOpen: boolean;
  readonly #metadata: Metadata;
  readonly #headersOf: (request: HttpRequest) => McpHeader[];
  readonly #accounting: Accounting;
  readonly #outage: ServiceOutage;
  readonly #dry: boolean;
  readonly #authorize: Authorize | null;

  /** Throws a `GwError` for a reference to nothing, and for an expression that is none. */
  constructor(spec: McpProcessor, index: number, context: PolicyContext) {
    const { services, expressions, log, clock, dryRun } = context.deps;
    this.looksAt = compileMethods(spec.methods);
    this.#client = services.open(spec.service, 'Guardrail');
    this.#authorize = serviceCredentials(this.#client.credentials, context, 'guardrail');
    this.#failOpen = spec.failureMode === 'failOpen';
    this.#metadata = compileMetadata(spec.metadata, expressions, `mcpGuardrails processors[${index}]`);
    this.#headersOf = compileHeaders(spec.requestHeaders);
    this.#accounting = new Accounting(context);
    this.#outage = new ServiceOutage(log.scope('guardrail'), clock, {
      processor: this.#client.name,
      from: context.source,
    });
    this.#dry = dryRun !== undefined;
    checkMcpRequest.prepare();
    checkMcpResponse.prepare();
  }

  /** Never rejects for what the processor does. */
  async ask(subject: Subject): Promise<Guarded> {
    const { call, phase, body, signal } = subject;
    const { exchange, method } = call;
    if (this.#dry) return this.#unasked(subject);
    const startedAt = exchange.trace?.now() ?? null;
    const decided: Decided = { exchange, phase, method, processor: this.#client.name, startedAt };
    try {
      // The client could make it so: a question that nobody can read is not one that went unanswered.
      const metadata = this.#metadata(call, phase === 'request' ? body : null);
      if (metadata !== undefined && tooDeep({ metadata })) return this.#unreadable(decided);
      const answer = await this.#send(subject, metadata);
      const verdict = verdictOf(answer, body !== null);
      this.#outage.answered();
      return this.#settle(verdict, answer, { subject, decided });
    } catch (error) {
      if (!(error instanceof ServiceError) && !(error instanceof Violation)) throw error;
      if (signal.aborted) return { kind: 'reject', error: internal('the call was given up') };
      this.#outage.failed(error);
      return this.#failed(error, { subject, decided });
    }
  }

  async #send({ call, phase, body, signal }: Subject, metadataContext: JsonObject | undefined): Promise<Answer> {
    const { exchange, method, targets } = call;
    const trace = exchange.trace?.scoped('guardrail') ?? null;
    const options: RpcOptions = {
      timeoutMs: TIMEOUT_MS,
      maxMessageBytes: MAX_ANSWER_BYTES,
      signal,
      trace,
      spans: exchange.spans,
    };
    const ask = async <I, O>(rpc: RpcMethod<I, O>, message: I): Promise<O> => {
      const metadata = this.#authorize === null ? undefined : await this.#shown({ method: rpc, message, exchange });
      return this.#client.unary(rpc, message, { ...options, metadata });
    };
    const about = { serviceNames: targets, method, metadataContext };
    const bytes = body === null ? undefined : Buffer.from(JSON.stringify(body));
    if (phase === 'response') return ask(checkMcpResponse, { ...about, mcpResponse: bytes ?? NOTHING });
    const headers = this.#headersOf(exchange.request);
    return ask(checkMcpRequest, { ...about, mcpRequest: bytes, headers });
  }

  /** The credentials of a call, as headers. Throws a `ServiceError` where there are none to be had. */
  async #shown<I>({ method, message, exchange }: Shown<I>): Promise<Headers> {
    const headers = new Headers();
    const request: HttpRequest = {
      method: 'POST',
      scheme: 'https',
      authority: this.#client.authority?.() ?? '',
      target: method.path,
      version: 'HTTP/2.0',
      headers,
      body: new BufferedBody(frame(method.encode(message))),
      upgrade: null,
    };
    const refusal = (await this.#authorize?.(request, exchange)) ?? null;
    if (refusal !== null) throw new ServiceError('unreachable', refusal.message);
    return request.headers;
  }

  #settle(verdict: Verdict, answer: Answer, { subject, decided }: Settling): Guarded {
    if (verdict.kind === 'reject') {
      this.#accounting.record('Reject', '', decided);
      return verdict;
    }
    if (subject.phase === 'request' && 'metadata' in answer) applySideEffects(subject.call, answer);
    const changed = verdict.kind === 'mutated';
    this.#accounting.record(changed ? 'Mask' : 'Allow', '', decided);
    return { kind: 'pass', body: changed ? verdict.body : subject.body };
  }

  #failed(error: ServiceError | Violation, { subject, decided }: Settling): Guarded {
    if (this.#failOpen) {
      this.#accounting.record('FailOpen', error.message, decided);
      return { kind: 'pass', body: subject.body };
    }
    this.#accounting.failed(error.message, decided);
    const check = subject.phase === 'request' ? 'checkRequest' : 'checkResponse';
    const what = error instanceof Violation ? 'protocol violation' : `${check} failed`;
    return { kind: 'reject', error: internal(`mcpGuardrails ${what}: ${error.message}`) };
  }

  #unreadable(decided: Decided): Guarded {
    const message = 'the metadata is nested too deeply';
    this.#accounting.failed(message, decided);
    return { kind: 'reject', error: internal(`mcpGuardrails: ${message}`) };
  }

  /** Where requests are only explained, nobody is called. */
  #unasked({ call, body }: Subject): Guarded {
    const details = { notAsked: this.#client.name };
    call.exchange.trace?.emit({ type: 'policyEvent', kind: 'guardrail', details }, 'warn');
    return { kind: 'pass', body };
  }
}

interface Shown<I> {
  readonly method: RpcMethod<I, unknown>;
  readonly message: I;
  readonly exchange: Exchange;
}

interface Settling {
  readonly subject: Subject;
  readonly decided: Decided;
}

const NOTHING = new Uint8Array();

/** Headers for the target, which rules see too, and metadata; later ones win. */
function applySideEffects({ exchange, headers }: GuardedCall, answer: McpRequestResult): void {
  const change = headerMutation(answer.headerMutation);
  change?.(headers);
  if (headers !== exchange.request.headers) change?.(exchange.request.headers);
  const { attributes } = exchange;
  if (answer.metadata !== null) attributes.mcpGuardrails = { ...attributes.mcpGuardrails, ...answer.metadata };
}

function internal(message: string): RpcFailure {
  return { code: rpcCodes.internal, message };
}
