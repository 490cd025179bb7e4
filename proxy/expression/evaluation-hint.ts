import type { CompileOptions } from '../../src/cel/compile/compiler.ts';
import type { Program } from '../../src/cel/program.ts';
import { partsOf, type Expr } from '../../src/cel/syntax/ast.ts';
import type { CelError } from '../../src/cel/value/value.ts';
import { nearest } from '../../src/shared/nearest.ts';
import type { EvalContext } from './contract.ts';
import { unknownField } from './unknown-field.ts';

interface Surroundings extends CompileOptions<EvalContext> {
  readonly context: EvalContext;
}

/** What the one who wrote the expression may have meant, or has to give; null when there is nothing to say. */
export function hintFor(error: CelError, program: Program<EvalContext>, around: Surroundings): string | null {
  const unresolved = program.unresolved.find(({ at }) => at === error.at);
  if (error.kind === 'undeclared' && unresolved !== undefined) {
    const { host, functions, custom } = around;
    const known = unresolved.kind === 'variable' ? host.variables : [...functions.names, ...custom.names];
    const meant = nearest(unresolved.name, known);
    if (meant !== undefined) return `did you mean ${meant}?`;
    return unresolved.kind === 'variable' ? `--vars '{"${unresolved.name}": …}' gives it a value` : null;
  }
  const name = error.kind === 'no_such_key' ? nameAt(program.tree, error.at) : undefined;
  const variable = name === undefined ? undefined : around.host.variable(name);
  if (name === undefined || variable === undefined) return null;
  if (variable.read(around.context) === null) {
    return name === 'request'
      ? 'there is no request: give one behind -- or with --request'
      : `${name} is null here: --vars '{"${name}": {…}}' gives it a value`;
  }
  const read = program.mentions.find((mention) => mention.variable === name)?.path ?? [];
  const unknown = unknownField(name, variable, read);
  if (unknown === null) return null;
  const { owner, field, fields } = unknown;
  const meant = nearest(field, fields);
  return meant === undefined ? `${owner} has ${fields.join(', ')}` : `did you mean ${owner}.${meant}?`;
}

/** The name that an expression begins with at a place. */
function nameAt(tree: Expr, at: number): string | undefined {
  const pending: Expr[] = [tree];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'ident' && next.start === at) return next.name;
    pending.push(...partsOf(next));
  }
  return undefined;
}
