import type { Found, LintRule } from '../finding.ts';
import { treeOf, variablesOf } from '../expression-tree.ts';
import { isMap, under, type Path } from '../walk.ts';

/** Logins, and what expressions see of them. */
const CHECKERS = [
  ['jwtAuth', 'jwt'],
  ['mcpAuthentication', 'jwt'],
  ['apiKey', 'apiKey'],
  ['basicAuth', 'basicAuth'],
] as const;

/** Credentials that nobody has to have: the policy checks what is there, and nothing asks for it. */
export const openDoor: LintRule = {
  code: 'GW_LINT_OPTIONAL_LOGIN',
  severity: 'warning',
  summary: 'a login with mode `optional` or `permissive`, and no authorization beside it that asks for its result',
  check: ({ raw, expressions }) => {
    const read = new Set(
      expressions.flatMap(({ source }) => {
        const tree = treeOf(source);
        return tree === null ? [] : [...variablesOf(tree)];
      }),
    );
    // Whoever reads it in a log, a limit or a header wants to know who comes, not to keep anybody out.
    return CHECKERS.filter(([, variable]) => !read.has(variable)).flatMap(([policy]) =>
      [...under(raw, policy)].flatMap(({ path, value }): Found[] => {
        if (!isMap(value) || typeof value['mode'] !== 'string' || !['optional', 'permissive'].includes(value['mode']))
          return [];
        if (hasAuthorization(raw, path)) return [];
        return [
          {
            path: [...path, 'mode'],
            message: `requests without credentials pass, and no \`authorization\` beside \`${policy}\` looks at who came`,
            hint: 'use `mode: strict`, or add an `authorization` with a rule that requires a claim',
          },
        ];
      }),
    );
  },
};

/** Beside it, or anywhere on a level that includes it: only a file without any says nothing. */
function hasAuthorization(raw: unknown, path: Path): boolean {
  const beside = path.slice(0, -1);
  for (const { path: found } of under(raw, 'authorization')) {
    const parent = found.slice(0, -1);
    if (JSON.stringify(parent) === JSON.stringify(beside)) return true;
    // What stands on a gateway is looked at by the routes below it, and by policies from outside.
    if (beside[0] === 'gateways' || beside[0] === 'policies' || parent[0] === 'policies') return true;
  }
  return false;
}
