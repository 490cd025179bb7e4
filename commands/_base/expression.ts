import { GwError } from '../../src/shared/errors.ts';
import { excerpt } from '../../ui/text/excerpt.ts';
import { usageError } from './usage-error.ts';

/** A text that is no expression is wrong usage; the caret stands where reading ended. Other errors stay what they are. */
export function notAnExpression(thrown: unknown, source: string, name?: string): unknown {
  if (!(thrown instanceof GwError) || !isAtPlace(thrown)) return thrown;
  const what = name === undefined ? 'not an expression' : `${name} is not an expression`;
  return usageError(`${what}: ${thrown.message}\n\n${excerpt(source, thrown.offset)}\n`);
}

/** By the code, so that the parser is not loaded for it. */
function isAtPlace(error: GwError): error is GwError & { readonly offset: number } {
  return error.code === 'GW_CEL_SYNTAX' && 'offset' in error && typeof error.offset === 'number';
}

/** Throws a usage error for a text that is no expression, before it is sent anywhere. */
export async function checkExpression(source: string, name: string): Promise<void> {
  const { parse } = await import('../../src/cel/syntax/parser.ts');
  try {
    parse(source);
  } catch (error) {
    throw notAnExpression(error, source, name);
  }
}
