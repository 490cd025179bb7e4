import type { Delay } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { clientLeft, requestTimeout, waitWithin } from '../../exchange/wait.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

/** Waits before the request goes on; null when there is nothing to wait for. */
export function delay(spec: Delay, context: PolicyContext): RequestStep | null {
  if (spec.kind === 'fixed') {
    const { durationMs } = spec;
    return durationMs > 0 ? (exchange) => pause(exchange, durationMs, context) : null;
  }
  const duration = context.deps.expressions.compile(spec.expression, 'delay duration');
  return (exchange) => {
    const durationMs = duration.durationMs(exchange);
    if (durationMs !== null && durationMs > 0) return pause(exchange, durationMs, context);
    if (exchange.trace !== null) {
      const why = durationMs === null ? 'the expression gives no duration' : 'the duration is not positive';
      exchange.trace.skipped('delay', `${why} (from ${context.source})`);
    }
    return next;
  };
}

async function pause(exchange: Exchange, durationMs: number, context: PolicyContext): Promise<Outcome> {
  const startedAt = exchange.trace?.now() ?? null;
  const waited = await waitWithin(exchange, durationMs, context.deps.clock);
  if (waited === 'elapsed') {
    report(exchange, startedAt, `${formatDuration(durationMs)} (from ${context.source})`);
    return next;
  }
  return cut(exchange, startedAt, { waited, source: context.source });
}

interface Cut {
  readonly waited: 'deadline' | 'clientGone';
  readonly source: string;
}

function cut(exchange: Exchange, startedAt: number | null, { waited, source }: Cut): Outcome {
  const why = waited === 'deadline' ? 'cut by the request timeout' : 'cut by the client';
  exchange.trace?.applied('delay', `${why} (from ${source})`, 'error', startedAt);
  return { kind: 'fail', refusal: waited === 'deadline' ? requestTimeout : clientLeft };
}

function report(exchange: Exchange, startedAt: number | null, details: string): void {
  if (exchange.trace !== null) exchange.trace.applied('delay', details, 'info', startedAt);
}
