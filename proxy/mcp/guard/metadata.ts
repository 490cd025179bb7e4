import type { McpProcessor } from '../../../src/config/ir/policy/mcp-guardrails.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { McpFacts, type McpItemFacts } from '../../exchange/mcp-facts.ts';
import type { Expressions } from '../../expression/contract.ts';
import { itemNameOf } from '../message/methods.ts';
import type { GuardedCall } from './contract.ts';

/** What a processor is told besides the message; undefined where nothing is configured. Values that fail are left out. */
export type Metadata = (call: GuardedCall, params: JsonObject | null) => JsonObject | undefined;

/** `where` names the processor for traces. Throws a `GwError` for an expression that is none. */
export function compileMetadata(spec: McpProcessor['metadata'], expressions: Expressions, where: string): Metadata {
  const values = Object.entries(spec).map(
    ([name, source]) => [name, expressions.compile(source, `${where} metadata.${name}`)] as const,
  );
  if (values.length === 0) return () => undefined;
  return (call, params) => {
    const { attributes } = call.exchange;
    const before = attributes.mcp;
    attributes.mcp = factsOf(call, params, before);
    try {
      return Object.fromEntries(
        values.flatMap(([name, expression]) => {
          const value = expression.json(call.exchange);
          return value === undefined ? [] : [[name, value] as const];
        }),
      );
    } finally {
      attributes.mcp = before;
    }
  };
}

/** What is known of the message, and what it is about, under the target's own name. */
function factsOf({ method, targets }: GuardedCall, params: JsonObject | null, known: McpFacts | null): McpFacts {
  const facts = new McpFacts();
  facts.methodName = method;
  facts.sessionId = known?.sessionId ?? null;
  facts.arguments = known?.arguments ?? null;
  const kind = KINDS.get(method.slice(0, method.indexOf('/')));
  const name = params === null ? null : itemNameOf(method, params);
  const [target] = targets;
  const named = kind !== undefined && typeof name === 'string' && target !== undefined;
  facts.item = named ? { kind, name, target } : (known?.item ?? null);
  return facts;
}

const KINDS: ReadonlyMap<string, McpItemFacts['kind']> = new Map([
  ['tools', 'tool'],
  ['prompts', 'prompt'],
  ['resources', 'resource'],
  ['tasks', 'task'],
]);
