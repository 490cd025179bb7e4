import type { Host, Variable } from '../../src/cel/compile/host.ts';
import { Program } from '../../src/cel/program.ts';
import { positionOf } from '../../src/cel/syntax/syntax-error.ts';
import { toJson } from '../../src/cel/value/json.ts';
import { fromJson, type Json } from '../../src/cel/value/map.ts';
import { notationOf } from '../../src/cel/value/notation.ts';
import { CelError, isMap, typeName } from '../../src/cel/value/value.ts';
import type { HttpRequest } from '../exchange/message.ts';
import { Attributes } from '../exchange/attributes.ts';
import { BufferedBody, emptyBody } from '../exchange/body.ts';
import { nobody } from '../exchange/connection.ts';
import { Headers } from '../exchange/headers.ts';
import type { ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import type { EvalContext } from './contract.ts';
import { hintFor } from './evaluation-hint.ts';
import { environmentOf, type ExpressionOptions } from './expressions.ts';
import { type EvaluatedPart, ObservedParts } from './parts.ts';

/** What one expression is evaluated over, apart from any traffic. */
export interface EvaluationInput extends ExpressionOptions {
  readonly request?: HttpRequest | undefined;
  /** Variables by name; they stand before those of the request. */
  readonly variables?: Readonly<Record<string, Json>> | undefined;
  /** Whether the values of the parts are wanted. */
  readonly parts: boolean;
}

export interface Evaluation {
  readonly expression: string;
  /** Null when the evaluation failed. */
  readonly type: string | null;
  readonly value: Json;
  /** The value as the language writes it, or what went wrong. */
  readonly text: string;
  readonly error: EvaluationError | null;
  readonly parts: readonly EvaluatedPart[];
}

export interface EvaluationError {
  readonly message: string;
  /** From 1; where the part begins that failed. */
  readonly line: number;
  readonly column: number;
  /** Offset of that place. */
  readonly offset: number;
  /** What to do about it; null when nobody knows. */
  readonly hint: string | null;
}

/** A request that somebody wrote down. */
export function requestOf(question: ExplainQuestion): HttpRequest {
  const body = question.body === undefined ? emptyBody : new BufferedBody(Buffer.from(question.body, 'base64'));
  return {
    method: question.method,
    scheme: question.scheme,
    authority: question.authority,
    target: question.target,
    version: question.version ?? 'HTTP/1.1',
    // In messages a character of a value is one byte.
    headers: Headers.from(question.headers.map(([name, value]) => [name, Buffer.from(value).toString('latin1')])),
    body,
    upgrade: null,
  };
}

/** Evaluates one expression; throws a `CelSyntaxError` for what is none. */
export function evaluateOnce(source: string, input: EvaluationInput): Evaluation {
  const parts = new ObservedParts();
  const environment = environmentOf(input);
  const host = withVariables(environment.host, input.variables ?? {});
  const observer = input.parts ? { observer: parts } : {};
  const program = Program.compile<EvalContext>(source, { ...environment, host, ...observer });
  const context = contextOf(input);
  const result = program.evaluate(context);
  const shown = { expression: source, text: notationOf(result), parts: parts.list(program.tree, source) };
  if (result instanceof CelError) {
    const offset = Math.max(0, result.at);
    const hint = hintFor(result, program, { ...environment, host, context });
    const error = { message: result.message, ...positionOf(source, offset), offset, hint };
    return { ...shown, type: null, value: null, error };
  }
  const json = toJson(result);
  return { ...shown, type: typeName(result), value: json instanceof CelError ? null : json, error: null };
}

/** Given variables are JSON, whatever they are called. */
function withVariables(host: Host<EvalContext>, given: Readonly<Record<string, Json>>): Host<EvalContext> {
  const own = new Map(
    Object.entries(given).map(([name, json]): [string, Variable<EvalContext>] => {
      const value = fromJson(json) ?? null;
      const path: Variable<EvalContext>['path'] = ([first]) =>
        first === undefined || !isMap(value) ? undefined : { read: () => value.get(first.name), used: 1 };
      return [name, { read: () => value, path }];
    }),
  );
  return {
    variable: (name) => own.get(name) ?? host.variable(name),
    variables: [...new Set([...host.variables, ...own.keys()])],
  };
}

function contextOf({ request }: EvaluationInput): EvalContext {
  return {
    request: request ?? null,
    response: null,
    attributes: new Attributes(),
    progress: null,
    trace: null,
    connection: nobody,
  };
}
