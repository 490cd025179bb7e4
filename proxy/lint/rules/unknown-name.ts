import type { Host } from '../../../src/cel/compile/host.ts';
import type { Mention } from '../../../src/cel/compile/compiler.ts';
import { Program } from '../../../src/cel/program.ts';
import { nearest } from '../../../src/shared/nearest.ts';
import type { EvalContext } from '../../expression/contract.ts';
import { environmentOf } from '../../expression/expressions.ts';
import { unknownField } from '../../expression/unknown-field.ts';
import type { Found, LintRule } from '../finding.ts';

/** A name in an expression that nobody knows: the language tells it only when the expression is evaluated. */
export const unknownName: LintRule = {
  code: 'GW_LINT_UNKNOWN_NAME',
  severity: 'error',
  summary: 'an expression names a variable, field or function that does not exist; it always fails there',
  check: ({ config, expressions }) => {
    const environment = environmentOf(config.process);
    const functions = [...environment.functions.names, ...environment.custom.names];
    return expressions.flatMap(({ path, source }): Found[] => {
      const program = compiled(source, environment);
      if (program === null) return [];
      const unresolved = program.unresolved.map(({ kind, name, message }) =>
        kind === 'variable'
          ? { message: `there is no variable \`${name}\``, hint: meaning(name, environment.host.variables) }
          : { message, hint: functions.includes(name) ? OTHER_ARGUMENTS : meaning(name, functions) },
      );
      const fields = program.mentions.flatMap((mention) => toldField(mention, environment.host));
      return [...unresolved, ...fields].map((found) => ({ path, ...found }));
    });
  },
};

const OTHER_ARGUMENTS = 'give it what docs/cel.md says that it takes';

function meaning(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? 'correct the name; docs/cel.md lists all of them' : `did you mean \`${meant}\`?`;
}

/** Null for one that does not parse, which loading has told. */
function compiled(source: string, environment: ReturnType<typeof environmentOf>): Program<EvalContext> | null {
  try {
    return Program.compile(source, environment);
  } catch {
    return null;
  }
}

function toldField({ variable, path }: Mention, host: Host<EvalContext>) {
  const unknown = unknownField(variable, host.variable(variable) ?? {}, path);
  if (unknown === null) return [];
  const { owner, field, fields } = unknown;
  return [{ message: `\`${owner}\` has no \`${field}\``, hint: meaning(field, fields) }];
}
