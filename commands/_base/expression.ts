import type { Evaluation } from '../../proxy/expression/evaluation.ts';
import { exitCodes, GwError } from '../../src/shared/errors.ts';
import { excerpt } from '../../ui/text/excerpt.ts';

/** Throws a usage error for a text that is no expression, before it is sent anywhere. */
export async function checkExpression(source: string, name: string): Promise<void> {
  const { parse } = await import('../../src/cel/syntax/parser.ts');
  try {
    parse(source);
  } catch (error) {
    throw notAnExpression(error, source, name);
  }
}

/** A text that is no expression is wrong usage; a caret stands where reading ended. Other errors stay what they are. */
export function notAnExpression(thrown: unknown, source: string, name?: string): unknown {
  if (!(thrown instanceof GwError) || !isAtPlace(thrown)) return thrown;
  const what = name === undefined ? 'not an expression' : `${name} is not an expression`;
  return new GwError(`${what}: ${thrown.message}`, {
    code: 'GW_USAGE',
    exitCode: exitCodes.usage,
    detail: excerpt(source, thrown.offset),
  });
}

/** By the code, so that the parser is not loaded for it. */
function isAtPlace(error: GwError): error is GwError & { readonly offset: number } {
  return error.code === 'GW_CEL_SYNTAX' && 'offset' in error && typeof error.offset === 'number';
}

/** Null for an evaluation that did not fail. */
export function evaluationFailure({ error, expression }: Evaluation, explained: boolean): GwError | null {
  if (error === null) return null;
  const { message, line, column, offset, hint } = error;
  return new GwError(`the evaluation fails: ${message} (line ${line}, column ${column})`, {
    code: 'GW_CEL_FAILED',
    detail: excerpt(expression, offset),
    hint: hint ?? (explained ? undefined : 'the same command with --explain shows the value of each part'),
  });
}
