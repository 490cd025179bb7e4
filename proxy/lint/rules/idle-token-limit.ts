import { type IdleTokenLimit, idleTokenLimits } from '../../policy/idle-token-limits.ts';
import { nameOfEntry } from '../entry-name.ts';
import type { Found, LintRule } from '../finding.ts';
import { type Path, under } from '../walk.ts';

/** A limit of tokens where no language model is called. */
export const idleTokenLimit: LintRule = {
  code: 'GW_LINT_TOKEN_LIMIT_WITHOUT_MODEL',
  severity: 'warning',
  summary: 'a rate limit of `type: tokens` on routes none of whose backends is a language model: it counts nothing',
  check: ({ config, raw }) =>
    idleTokenLimits(config).map((idle): Found => {
      const hint = 'limit requests, or put the limit on the routes of language models';
      return { path: pathOf(idle, raw), message: idle.message, hint };
    }),
};

function pathOf({ at, policy }: IdleTokenLimit, raw: unknown): Path {
  const list = at.kind === 'policy' ? 'policies' : 'routes';
  const found = [...under(raw, policy)].find(({ path }) => {
    const [first, index] = path;
    return first === list && typeof index === 'number' && nameOfEntry(raw, [list, index]) === at.name;
  });
  return found?.path ?? [...under(raw, policy)][0]?.path ?? [];
}
