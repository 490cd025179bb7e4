import type { Authorization } from '../../../src/config/ir/index.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { McpFacts } from '../../exchange/mcp-facts.ts';
import type { EvalContext } from '../../expression/contract.ts';
import { RuleSet } from '../../policy/authorization/rules.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { ItemRules, ListRules, McpItem } from './contract.ts';
import { otherSpellings } from './spellings.ts';

const everything: ItemRules = { allows: null, list: null };

/** The rules of all levels together. Throws a `GwError` for an expression that is none. */
export function compileItemRules(spec: Authorization | undefined, context: PolicyContext): ItemRules {
  if (spec === undefined || spec.rules.length === 0) return everything;
  const rules = new RuleSet(spec.rules, context.deps.expressions, 'mcpAuthorization');
  const decider = new Decider(rules);
  const decide = (exchange: Exchange, item: McpItem): boolean =>
    exchange.trace === null ? decider.allows(exchange, item) : decider.explain(exchange, item);
  return {
    allows: (exchange, item) =>
      namesOf(item).every((name) => decide(exchange, name === item.name ? item : { ...item, name })),
    list: (exchange) => new Listing(decider, exchange, context.source),
  };
}

/** What a client has written, and what its target may read in it: rules have to allow each. */
function namesOf({ kind, name }: McpItem): readonly string[] {
  return kind === 'resource' ? [name, ...otherSpellings(name)] : [name];
}

/** Asks rules about items: expressions see the item, and nothing else of the message. */
class Decider {
  readonly #rules: RuleSet;
  /** One for all items: nothing waits while a rule looks at it. */
  readonly #shown = new McpFacts();

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  allows(context: EvalContext, item: McpItem): boolean {
    const { attributes } = context;
    const before = attributes.mcp;
    this.#shown.item = item;
    attributes.mcp = this.#shown;
    try {
      return this.#rules.allows(context);
    } finally {
      attributes.mcp = before;
    }
  }

  /** The same, with the outcome of every rule for a trace. */
  explain(context: EvalContext, item: McpItem): boolean {
    const { attributes, trace } = context;
    const before = attributes.mcp;
    this.#shown.item = item;
    attributes.mcp = this.#shown;
    try {
      const outcome = this.#rules.explain(context);
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
  /** What expressions see, without the trace: it would hear of each item that an expression fails for. */
  readonly #quiet: EvalContext;
  readonly #source: string;
  #kind: McpItem['kind'] | null = null;
  #seen = 0;
  #hidden = 0;

  constructor(decider: Decider, exchange: Exchange, source: string) {
    this.#decider = decider;
    this.#exchange = exchange;
    this.#quiet = exchange.trace === null ? exchange : quiet(exchange);
    this.#source = source;
  }

  allows(item: McpItem): boolean {
    const allowed = this.#decider.allows(this.#quiet, item);
    this.#kind ??= item.kind;
    // Tools name resources, which are not items of their list.
    if (item.kind !== this.#kind) return allowed;
    this.#seen += 1;
    if (allowed) return true;
    this.#hidden += 1;
    // The first stands for all of them: what fails tells the trace why.
    if (this.#hidden === 1 && this.#quiet !== this.#exchange) this.#decider.allows(this.#exchange, item);
    return false;
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

function quiet({ connection, request, response, attributes, progress, startedAt }: Exchange): EvalContext {
  return { connection, request, response, attributes, progress, startedAt, trace: null };
}
