import type { Exchange } from '../exchange/exchange.ts';
import type { BackendProgram } from './program.ts';

/** What a dynamic backend dials for this request; undefined when the request itself names it, null when nothing does. */
export function dynamicTarget(exchange: Exchange, { pipeline }: BackendProgram): string | undefined | null {
  const expression = pipeline.dynamicTarget;
  if (expression === null) return undefined;
  const target = expression.text(exchange);
  if (exchange.trace !== null) {
    if (target === null) exchange.trace.applied('dynamic_target', 'the expression gives no target', 'error');
    else exchange.trace.applied('dynamic_target', target);
  }
  return target;
}
