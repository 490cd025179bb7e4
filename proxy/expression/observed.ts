import { Program } from '../../src/cel/program.ts';
import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import { notationOf } from '../../src/cel/value/notation.ts';
import { CelError, isBytes, isList, isMap, type Result } from '../../src/cel/value/value.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { Redaction } from '../telemetry/redaction.ts';
import type { EvalContext, Expression, Expressions } from './contract.ts';
import { createExpressions, environmentOf, type ExpressionOptions } from './expressions.ts';
import { ObservedParts } from './parts.ts';

/** Characters of a value that are shown. */
const MAX_LENGTH = 200;

/** Expressions that tell a trace the values of their parts each time they decide something. Slow: to explain requests with. */
export function observedExpressions(options: ExpressionOptions): Expressions {
  const environment = environmentOf(options);
  const plain = createExpressions(options);
  const redaction = new Redaction(options.sensitiveHeaders ?? []).hide(
    options.hidden ?? { headers: [], parameters: [] },
  );
  return {
    compile(source, where, about) {
      const expression = plain.compile(source, where, about);
      const parts = new ObservedParts((expr, value) => shown(expr, value, redaction));
      const program = Program.compile<EvalContext>(source, { ...environment, observer: parts });
      const isTrue = (context: EvalContext): boolean => {
        parts.reset();
        const value = program.evaluate(context);
        const listed = parts.list(program.tree, source).map(({ expression: text, values }) => ({ text, values }));
        context.trace?.emit({
          type: 'cel',
          expr: source,
          requestState: {},
          result: {
            value: value === true,
            ...(value instanceof CelError ? { error: value.message } : {}),
            parts: listed,
          },
        });
        return value === true;
      };
      return observed(expression, isTrue);
    },
  };
}

function observed(expression: Expression, isTrue: Expression['isTrue']): Expression {
  return {
    source: expression.source,
    reads: expression.reads,
    isTrue,
    headerText: (context) => expression.headerText(context),
    text: (context) => expression.text(context),
    scalarText: (context) => expression.scalarText(context),
    integer: (context) => expression.integer(context),
    number: (context) => expression.number(context),
    durationMs: (context) => expression.durationMs(context),
    body: (context) => expression.body(context),
    json: (context) => expression.json(context),
    value: (context) => expression.value(context),
    sampled: (context, random) => expression.sampled(context, random),
  };
}

/** Truths and failures tell why a rule decides; of texts those that hold credentials are hidden, of collections the size is enough. */
function shown(expr: Expr, value: Result, redaction: Redaction): string {
  if (value instanceof CelError) return `fails: ${value.message}`;
  if (typeof value === 'boolean' || value === null) return String(value);
  if (isBytes(value)) return `${value.length} bytes`;
  if (isList(value)) return 'a list';
  if (isMap(value)) return 'a map';
  if (typeof value === 'string' && hides(expr, redaction)) return REDACTED;
  const text = notationOf(typeof value === 'string' ? redaction.target(value) : value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

/** Whether the text of a part may come from a credential: of a header or parameter of that name, or of one that is computed. */
function hides(expr: Expr, redaction: Redaction): boolean {
  if (expr.kind === 'select' && redaction.isSensitive(expr.field)) return true;
  if (expr.kind === 'index' && isCredential(expr.index, redaction)) return true;
  if (expr.kind === 'method' && expr.name === 'unredacted') return true;
  for (const part of partsOf(expr)) if (hides(part, redaction)) return true;
  return false;
}

function isCredential(index: Expr, redaction: Redaction): boolean {
  if (index.kind !== 'literal') return true;
  return typeof index.value === 'string' && redaction.isSensitive(index.value);
}
