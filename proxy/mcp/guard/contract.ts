import type { JsonObject } from '../../../src/shared/json.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { RpcFailure } from '../message/message.ts';
import type { Headers } from '../../exchange/headers.ts';

/** What rules and processors decide about; names are the target's own, without prefix. */
export interface McpItem {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'task';
  readonly name: string;
  readonly target: string;
}

/** Who may use which item; compiled from `mcpAuthorization`. */
export interface ItemRules {
  /** Null where there are no rules: everything is allowed. */
  readonly allows: ((exchange: Exchange, item: McpItem) => boolean) | null;
}

/** What external processors make of a call, `mcpGuardrails`. */
export interface CallGuards {
  /** Whether some processor looks at requests, or answers, of the method. */
  looksAt(method: string, phase: 'request' | 'response'): boolean;
  /** `params` null for methods that go to several targets. Headers are changed in place. */
  request(call: GuardedCall, params: JsonObject | null): Promise<Guarded>;
  response(call: GuardedCall, result: JsonObject): Promise<Guarded>;
}

export interface GuardedCall {
  readonly exchange: Exchange;
  readonly method: string;
  /** Names of the targets. */
  readonly targets: readonly string[];
  /** That leave for the target. */
  readonly headers: Headers;
}

export type Guarded =
  | { readonly kind: 'pass'; readonly body: JsonObject | null }
  /** Told to the client as a JSON-RPC error. */
  | { readonly kind: 'reject'; readonly error: RpcFailure };
