import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import type { RemoteRateLimit } from '../../../src/config/ir/policy/remote-rate-limit.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { LlmFacts } from '../../exchange/llm-facts.ts';
import { ServiceError } from '../../services/contract.ts';
import type { RateLimitDescriptor } from '../../services/messages/rate-limit.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { debitOf } from '../token-debit.ts';
import { countsTokens, KIND, Limit } from './compile.ts';
import { compileTokenDescriptors, type TokenDescriptor } from './descriptors.ts';

/** Of the report of a call that is over: nobody waits for it. */
const REPORT_TIMEOUT_MS = 5000;

/**
 * Asks the service whether there are tokens left, and reports what a call used when it is over. Null when no descriptor
 * counts tokens. The step of the route has chosen the settings.
 */
export function remoteTokenLimit(choice: Choice<RemoteRateLimit>, context: PolicyContext): RequestStep | null {
  if (!countsTokens(choice)) return null;
  const place = { policy: 'remoteRateLimit', kind: KIND, context, sides: 'both' } as const;
  const chooser = compileChoice(choice, place, (spec) => {
    const limit = new Limit(spec, context);
    const describe = compileTokenDescriptors(spec.descriptors, context.deps.expressions);
    return (exchange: Exchange) => admit(exchange, limit, describe(exchange));
  });
  return (exchange) => chooser.chosen(exchange)?.(exchange) ?? next;
}

/** A promise only when the service is asked. */
function admit(exchange: Exchange, limit: Limit, described: readonly TokenDescriptor[]): Outcome | Promise<Outcome> {
  const { llm } = exchange.attributes;
  if (llm === null || described.length === 0) return next;
  const counted = llm.countedTokens ?? 0;
  const asked = described.map((each) => each.with(each.cost === null ? counted : 0));
  return limit.ask(exchange, asked).then((outcome) => {
    if (outcome.kind === 'next') llm.onSettled(() => void report(exchange, limit, { llm, described, counted }));
    return outcome;
  });
}

interface Used {
  readonly llm: LlmFacts;
  readonly described: readonly TokenDescriptor[];
  readonly counted: number;
}

/** Adds what was used to the counters of the service. It cannot take back what it was told before. */
async function report(exchange: Exchange, limit: Limit, { llm, described, counted }: Used): Promise<void> {
  const descriptors = described.flatMap((each): RateLimitDescriptor[] => {
    const hits = each.cost === null ? debitOf(llm, counted) : each.cost(exchange);
    return hits === null || hits <= 0 ? [] : [each.with(hits)];
  });
  if (descriptors.length === 0) return;
  try {
    await limit.call(descriptors, { timeoutMs: REPORT_TIMEOUT_MS, trace: null });
    limit.outage.answered();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    limit.outage.failed(error);
  }
}
