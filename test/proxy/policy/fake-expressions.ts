import type { JsonValue } from '../../../proxy/exchange/attributes.ts';
import type { EvalContext, Expression, Expressions } from '../../../proxy/expression/contract.ts';

/** What a source means in a test; a function that throws is an expression that fails. */
export type Meaning = (context: EvalContext) => unknown;

/**
 * Expressions whose sources are looked up in a table: a policy is tested by what it does with values, not by the language.
 * Sources that begin with a quote are texts, `true`, `false` and numbers mean themselves, and everything else that is not
 * in the table fails. What names `request.body` reads the body.
 */
export function fakeExpressions(meanings: Readonly<Record<string, Meaning>> = {}): Expressions {
  return { compile: (source) => expression(source, meanings[source] ?? literal(source)) };
}

function literal(source: string): Meaning {
  if (source.startsWith('"')) return () => JSON.parse(source) as unknown;
  if (source === 'true') return () => true;
  if (source === 'false') return () => false;
  if (/^-?[\d.]+$/.test(source)) return () => Number(source);
  return () => {
    throw new Error(`no such thing as ${source}`);
  };
}

function expression(source: string, meaning: Meaning): Expression {
  const get = (context: EvalContext): unknown => {
    try {
      return meaning(context);
    } catch {
      return undefined;
    }
  };
  const pick =
    <T>(accept: (value: unknown) => T | null) =>
    (context: EvalContext): T | null =>
      accept(get(context));
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return {
    source,
    reads: {
      llm: { prompt: false, completion: false, toolCalls: false },
      requestBody: source.includes('request.body'),
      responseBody: source.includes('response.body'),
      variables: new Set(),
    },
    isTrue: (context) => get(context) === true,
    headerText: pick(text),
    text: pick(text),
    scalarText: pick((value) => (['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null)),
    integer: pick((value) => (Number.isSafeInteger(value) ? number(value) : null)),
    number: pick(number),
    durationMs: pick(number),
    body: pick((value) =>
      value === undefined ? null : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    ),
    json: (context) => get(context) as JsonValue | undefined,
    value: get,
    sampled: (context) => get(context) === true,
  };
}
