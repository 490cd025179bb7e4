import { Program } from '../../src/cel/program.ts';
import { CelSyntaxError } from '../../src/cel/syntax/syntax-error.ts';
import { GwError } from '../../src/shared/errors.ts';
import { environmentOf, type ExpressionOptions } from './expressions.ts';
import { readsBody } from './variables/message.ts';

/** What there is of a request that has just arrived. */
const KNOWN = ['request', 'source', 'destination', 'proxy', 'env'];

/**
 * Checks an expression over requests that have just arrived. One that could never be true for want of a name is refused,
 * with its place: who waits for such a request would wait for ever. Throws a `GwError`.
 */
export function checkArrivalExpression(source: string, options: ExpressionOptions): void {
  const { mentions, unresolved } = Program.compile(source, environmentOf(options));
  const [unknown] = unresolved;
  if (unknown !== undefined) throw new CelSyntaxError(unknown.message, source, unknown.at);
  for (const { variable, path } of mentions) {
    if (!KNOWN.includes(variable)) throw tooEarly(variable);
    if (variable === 'request' && path.length > 0 && readsBody(path)) throw tooEarly(`request.${path[0]}`);
  }
}

function tooEarly(name: string): GwError {
  return new GwError(`${name} is not known yet when a request arrives; only ${KNOWN.join(', ')} are`, {
    code: 'GW_CEL_TOO_EARLY',
  });
}
