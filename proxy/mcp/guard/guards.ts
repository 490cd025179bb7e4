import type { McpGuardrails } from '../../../src/config/ir/policy/mcp-guardrails.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { Patience } from '../../exchange/patience.ts';
import type { Clock } from '../../exchange/wait.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { CallGuards, Guarded, GuardedCall } from './contract.ts';
import type { Phase } from './methods.ts';
import { Processor } from './processor.ts';

/** Null where there are no processors. Throws a `GwError` for what cannot be compiled. */
export function compileCallGuards(spec: McpGuardrails | undefined, context: PolicyContext): CallGuards | null {
  if (spec === undefined || spec.processors.length === 0) return null;
  const processors = spec.processors.map((each, index) => new Processor(each, index, context));
  return new Chain(processors, context.deps.clock);
}

/** Processors in their order, each on what the one before left; the first to reject ends it. */
class Chain implements CallGuards {
  readonly #processors: readonly Processor[];
  readonly #clock: Clock;

  constructor(processors: readonly Processor[], clock: Clock) {
    this.#processors = processors;
    this.#clock = clock;
  }

  looksAt(method: string, phase: Phase): boolean {
    return this.#processors.some((processor) => processor.looksAt(method, phase));
  }

  request(call: GuardedCall, params: JsonObject | null): Promise<Guarded> {
    return this.#run(call, 'request', params);
  }

  response(call: GuardedCall, result: JsonObject): Promise<Guarded> {
    return this.#run(call, 'response', result);
  }

  async #run(call: GuardedCall, phase: Phase, start: JsonObject | null): Promise<Guarded> {
    const patience = new Patience(waitingFor(call), this.#clock);
    let body = start;
    try {
      for (const processor of this.#processors) {
        if (!processor.looksAt(call.method, phase)) continue;
        const guarded = await processor.ask({ call, phase, body, signal: patience.signal });
        if (guarded.kind === 'reject') return guarded;
        ({ body } = guarded);
      }
      return { kind: 'pass', body };
    } finally {
      patience.release();
    }
  }
}

/** A deadline is for the head of the response; what is looked at in a stream that has begun may take its time. */
function waitingFor({ exchange }: GuardedCall): ConstructorParameters<typeof Patience>[0] {
  if (exchange.response === null) return exchange;
  return { deadlineAt: null, onClientGone: (listener) => exchange.onClientGone(listener) };
}
