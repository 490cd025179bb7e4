import type { TokenSource } from '../../../../src/config/ir/index.ts';
import { compileLocation } from '../../../credentials/location.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import { lend } from '../insert.ts';

/** A token that the caller brings, and that is traded for another. */
export interface CallerToken {
  readonly type: string;
  /** Null when the request has none. */
  read(exchange: Exchange): string | null;
  /** The backend does not get it. */
  take(exchange: Exchange): void;
}

/** `where` names it in traces. Throws a `GwError` for an expression that is none. */
export function callerToken({ source, tokenType }: TokenSource, deps: PolicyDeps, where: string): CallerToken {
  const location = compileLocation(source, deps.expressions, where);
  return {
    type: tokenType,
    read(exchange) {
      const token = location.read(exchange);
      return token === null || token.trim() === '' ? null : token;
    },
    take(exchange) {
      if (source.kind === 'expression') return;
      lend(exchange, source);
      location.remove(exchange);
    },
  };
}

/** Tells a watched request why it is refused: the answer does not say. */
export function tellWhy({ trace }: Exchange, details: string): void {
  trace?.emit({ type: 'policyEvent', kind: 'backend_auth', details }, 'warn');
}
