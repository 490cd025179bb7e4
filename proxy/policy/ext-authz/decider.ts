import type { ExtAuthz, ExtAuthzCache } from '../../../src/config/ir/policy/ext-authz.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import type { EvalContext, Expression } from '../../expression/contract.ts';
import { type CallOptions, ServiceError } from '../../services/contract.ts';
import type { PolicyContext } from '../contract.ts';
import { definitionKey } from '../definition-key.ts';
import { ServiceOutage } from '../service-outage.ts';
import { DecisionCache } from './cache.ts';
import { cacheKey } from './cache-key.ts';
import type { Decision } from './decision.ts';
import { askByGrpc } from './grpc.ts';
import { askByHttp } from './http.ts';
import type { Answer, Ask, Question } from './question.ts';
import { ttlOf } from './ttl.ts';

/** A decision, and how it came about. */
export type Decided =
  | { readonly kind: 'decided'; readonly decision: Decision; readonly by: 'cache' | 'service' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** What the cache leaves to do. */
export type Remembered =
  | { readonly kind: 'known'; readonly decision: Decision }
  /** Ask, and keep the answer under the key when there is one. */
  | { readonly kind: 'ask'; readonly key: string | null };

/** Decides by one service, with or without a memory. */
export class Decider {
  readonly #ask: Ask;
  readonly #cache: Cache | null;
  readonly #outage: ServiceOutage;

  /** Throws a `GwError` for what can't be compiled. */
  constructor(spec: ExtAuthz, context: PolicyContext) {
    const { deps, source } = context;
    const { protocol } = spec;
    this.#ask = protocol.kind === 'grpc' ? askByGrpc(spec, protocol, deps) : askByHttp(spec, protocol, deps);
    this.#cache = spec.cache === undefined ? null : new Cache(spec.cache, spec, context);
    this.#outage = new ServiceOutage(deps.log.scope('ext_authz'), deps.clock, { from: source });
  }

  /** What is known already; to be called before anything of the request is read for the service. */
  recall(context: EvalContext): Remembered {
    return this.#cache === null ? nothingKnown : this.#cache.look(context);
  }

  /** Asks the service; `carryOut` is called with its decision before it is decided how long that holds. */
  async ask(
    question: Question,
    { key, carryOut, ...call }: AskOptions & Pick<CallOptions, 'signal' | 'trace' | 'spans'>,
  ): Promise<Decided> {
    let answer: Answer;
    try {
      answer = await this.#ask(question, call);
    } catch (error) {
      const known = key === null ? null : (this.#cache?.keep(key) ?? null);
      if (!(error instanceof ServiceError)) throw error;
      if (call.signal?.aborted !== true) this.#outage.failed(error);
      if (known === null || call.signal?.aborted === true) return { kind: 'failed', error };
      carryOut(known);
      return { kind: 'decided', decision: known, by: 'cache' };
    }
    this.#outage.answered();
    carryOut(answer.decision);
    if (key !== null) this.#cache?.remember(key, answer);
    return { kind: 'decided', decision: answer.decision, by: 'service' };
  }

  /** Nobody asked after all: a refresh that was begun is left to the next. */
  forgo(key: string | null): void {
    if (key !== null) this.#cache?.keep(key);
  }
}

export interface AskOptions {
  /** Of `recall`. */
  readonly key: string | null;
  readonly carryOut: (decision: Decision) => void;
}

const nothingKnown: Remembered = { kind: 'ask', key: null };

/** What is remembered under which key, and for how long. */
class Cache {
  readonly #decisions: DecisionCache;
  readonly #key: readonly Expression[];
  readonly #ttl: number | Expression;

  constructor(spec: ExtAuthzCache, definition: ExtAuthz, context: PolicyContext) {
    const { deps } = context;
    const { expressions, stores, clock } = deps;
    this.#key = spec.key.map((source, index) => expressions.compile(source, `extAuthz cache.key[${index}]`));
    this.#ttl =
      typeof spec.ttl === 'number' ? spec.ttl : expressions.compile(spec.ttl, 'extAuthz cache.ttl', 'serviceAnswer');
    this.#decisions = stores.get(
      definitionKey('extAuthz', definition, context),
      () => new DecisionCache(spec.maxEntries, clock),
    );
  }

  look(context: EvalContext): Remembered {
    const { trace } = context;
    const key = cacheKey(this.#key, context);
    if (key === null) {
      if (trace !== null) tell(context, 'not cached: a part of the key has no value', 'warn');
      return nothingKnown;
    }
    const looked = this.#decisions.look(key);
    if (looked.kind === 'hit') return { kind: 'known', decision: looked.decision };
    if (trace !== null) tell(context, looked.kind === 'miss' ? 'cache miss' : 'cache refresh: the entry ends soon');
    return { kind: 'ask', key };
  }

  remember(key: string, { decision, context }: Answer): void {
    const ttlMs = this.#ttlOf(context);
    if (ttlMs === null || (decision.kind === 'denied' && !decision.cacheable)) {
      this.#decisions.forget(key);
      if (context.trace !== null)
        tell(context, ttlMs === null ? 'not cached: no valid time' : 'not cached: not a kind of answer that is');
      return;
    }
    this.#decisions.store(key, decision, ttlMs);
    if (context.trace !== null) tell(context, `cached for ${formatDuration(Math.round(ttlMs))}`);
  }

  keep(key: string): Decision | null {
    return this.#decisions.keep(key);
  }

  #ttlOf(context: EvalContext): number | null {
    const ttl = this.#ttl;
    if (typeof ttl === 'number') return ttl > 0 ? ttl : null;
    return ttlOf(ttl.value(context), Date.now());
  }
}

function tell({ trace }: EvalContext, details: string, severity: 'info' | 'warn' = 'info'): void {
  trace?.emit({ type: 'policyEvent', kind: 'ext_auth', details }, severity);
}
