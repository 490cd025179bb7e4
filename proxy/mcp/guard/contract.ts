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
  /** Whether a call may use an item, told to a trace. Null where there are no rules: everything is allowed. */
  readonly allows: ((exchange: Exchange, item: McpItem) => boolean) | null;
  /** For the items of one list. Null where there are no rules. */
  readonly list: ((exchange: Exchange) => ListRules) | null;
}

/** Decides about many items without telling a trace of each. */
export interface ListRules {
  allows(item: McpItem): boolean;
  /** The list is complete: tells a trace how much of it is hidden. */
  told(): void;
}

/** What external processors make of a call, `mcpGuardrails`. */
export interface CallGuards {
  /** Whether some processor looks at requests, or answers, of the method. Of some methods only answers are looked at. */
  looksAt(method: string, phase: 'request' | 'response'): boolean;
  /**
   * `params` null for methods that go to several targets. Headers are changed in place, those of the exchange as well:
   * rules that are asked later see them. Neither promise rejects for what a processor does.
   */
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
  /** With the parameters or the result to go on with; null where there were none. */
  | { readonly kind: 'pass'; readonly body: JsonObject | null }
  /** Told to the client as a JSON-RPC error. */
  | { readonly kind: 'reject'; readonly error: RpcFailure };
