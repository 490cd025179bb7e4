import type { Authorization } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { McpFacts } from '../../exchange/mcp-facts.ts';
import { RuleSet } from '../../policy/authorization/rules.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { ItemRules, ListRules, McpItem } from './contract.ts';

const everything: ItemRules = { allows: null, list: null };

/** The rules of all levels together. Throws a `GwError` for an expression that is none. */
export function compileItemRules(spec: Authorization | undefined, context: PolicyContext): ItemRules {
  if (spec === undefined || spec.rules.length === 0) return everything;
  const rules = new RuleSet(spec.rules, context.deps.expressions, 'mcpAuthorization');
  const decider = new Decider(rules);
  return {
    allows: (exchange, item) =>
      exchange.trace === null ? decider.allows(exchange, item) : decider.explain(exchange, item),
    list: (exchange) => new Listing(decider, exchange, context.source),
  };
}

/** Asks rules about items: expressions see the item, and nothing else of the message. */
class Decider {
  readonly #rules: RuleSet;
  /** One for all items: nothing waits while a rule looks at it. */
  readonly #shown = new McpFacts();

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  allows(exchange: Exchange, item: McpItem): boolean {
    const { attributes } = exchange;
    const before = attributes.mcp;
    this.#shown.item = item;
    attributes.mcp = this.#shown;
    try {
      return this.#rules.allows(exchange);
    } finally {
      attributes.mcp = before;
    }
  }

  /** The same, with the outcome of every rule for a trace. */
  explain(exchange: Exchange, item: McpItem): boolean {
    const { attributes, trace } = exchange;
    const before = attributes.mcp;
    this.#shown.item = item;
    attributes.mcp = this.#shown;
    try {
      const outcome = this.#rules.explain(exchange);
      const allowed = outcome.result === 'allow';
      trace?.emit(outcome, allowed ? 'success' : 'error');
      return allowed;
    } finally {
      attributes.mcp = before;
    }
  }
}

/** The items of one list. */
class Listing implements ListRules {
  readonly #decider: Decider;
  readonly #exchange: Exchange;
  readonly #source: string;
  #kind: McpItem['kind'] | null = null;
  #seen = 0;
  #hidden = 0;

  constructor(decider: Decider, exchange: Exchange, source: string) {
    this.#decider = decider;
    this.#exchange = exchange;
    this.#source = source;
  }

  allows(item: McpItem): boolean {
    const allowed = this.#decider.allows(this.#exchange, item);
    this.#kind ??= item.kind;
    this.#seen += 1;
    if (!allowed) this.#hidden += 1;
    return allowed;
  }

  told(): void {
    const { trace } = this.#exchange;
    if (trace === null) return;
    if (this.#kind === null) {
      trace.skipped('mcp_authorization', 'the list is empty');
      return;
    }
    const said = this.#hidden === 0 ? 'all allowed' : `${this.#hidden} hidden`;
    const details = `${this.#kind} list of ${this.#seen}: ${said} (from ${this.#source})`;
    trace.applied('mcp_authorization', details, this.#hidden === 0 ? 'success' : 'warn');
  }
}
