import type { AiPolicy } from '../../../src/config/ir/index.ts';
import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Expression, Expressions } from '../../expression/contract.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { BodyChange } from '../service.ts';

type Field = readonly [name: string, expression: Expression];

/**
 * Overrides, then transformations, then defaults where there is nothing yet. Every expression sees the body that came in;
 * one that fails takes its field away. Null when nothing is configured.
 */
export function fieldChanges(policy: AiPolicy, { source, deps: { expressions } }: PolicyContext): BodyChange | null {
  const { defaults, overrides, transformations } = policy;
  const fields = compileFields(transformations, expressions, 'ai transformation');
  const set = Object.entries(overrides ?? {});
  const absent = Object.entries(defaults ?? {});
  if (fields.length + set.length + absent.length === 0) return null;
  return (exchange, body) => {
    const computed = evaluate(exchange, body, fields);
    const changed = new Map(Object.entries(body));
    for (const [name, value] of set) changed.set(name, value);
    put(changed, computed);
    for (const [name, value] of absent) if (!changed.has(name)) changed.set(name, value);
    const counts = { overrides: set.length, transformations: fields.length, defaults: absent.length };
    report(exchange, counts, source);
    return Object.fromEntries(changed);
  };
}

/** Over the body as the service gets it. Null when nothing is configured. */
export function finalChanges(policy: AiPolicy, { source, deps: { expressions } }: PolicyContext): BodyChange | null {
  const fields = compileFields(policy.finalTransformations, expressions, 'ai finalTransformation');
  if (fields.length === 0) return null;
  return (exchange, body) => {
    const changed = new Map(Object.entries(body));
    put(changed, evaluate(exchange, body, fields));
    report(exchange, { finalTransformations: fields.length }, source);
    return Object.fromEntries(changed);
  };
}

function compileFields(
  sources: Readonly<Record<string, string>> | undefined,
  expressions: Expressions,
  where: string,
): readonly Field[] {
  return Object.entries(sources ?? {}).map(([name, source]) => [name, expressions.compile(source, `${where} ${name}`)]);
}

type Computed = readonly (readonly [name: string, value: JsonValue | undefined])[];

/** `llmRequest` is there for as long as this takes. */
function evaluate(exchange: Exchange, body: JsonObject, fields: readonly Field[]): Computed {
  if (fields.length === 0) return [];
  const { attributes } = exchange;
  const before = attributes.llmRequest;
  attributes.llmRequest = body;
  const computed = fields.map(([name, expression]) => [name, expression.json(exchange)] as const);
  attributes.llmRequest = before;
  return computed;
}

function put(changed: Map<string, JsonValue>, computed: Computed): void {
  for (const [name, value] of computed) {
    if (value === undefined) changed.delete(name);
    else changed.set(name, value);
  }
}

function report({ trace }: Exchange, counts: Readonly<Record<string, number>>, source: string): void {
  if (trace === null) return;
  const done = Object.entries(counts).filter(([, count]) => count > 0);
  trace.applied('llm', `${done.map(([what, count]) => `${what}: ${count}`).join(', ')} (from ${source})`);
}
