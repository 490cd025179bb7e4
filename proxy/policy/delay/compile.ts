import type { Delay } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { clientLeft, requestTimeout, waitWithin } from '../../exchange/wait.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

/** Waits before the request goes on; null when there is nothing to wait for. */
export function delay(spec: Delay, context: PolicyContext): RequestStep | null {
  const { durationMs } = spec;
  if (!(durationMs > 0)) return null;
  return async (exchange) => {
    const startedAt = exchange.trace?.now() ?? null;
    const waited = await waitWithin(exchange, durationMs, context.deps.clock);
    if (waited === 'elapsed') {
      report(exchange, startedAt, `${formatDuration(durationMs)} (from ${context.source})`);
      return next;
    }
    return cut(exchange, startedAt, { waited, source: context.source });
  };
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
