import { idlePolicies } from '../../policy/warnings.ts';
import type { Found, LintRule } from '../finding.ts';
import { isMap } from '../walk.ts';

/** A policy that nothing takes or can take, or that an earlier one hides. */
export const unattachedPolicy: LintRule = {
  code: 'GW_LINT_UNATTACHED_POLICY',
  severity: 'warning',
  summary:
    'a policy without effect: it attaches to nothing, an earlier entry hides it, or it needs requests where bytes pass',
  check: ({ config, raw }) =>
    idlePolicies(config).flatMap(({ at, message }): Found[] => {
      const list = at.kind === 'policy' ? 'policies' : 'backends';
      const entries = isMap(raw) && Array.isArray(raw[list]) ? raw[list] : [];
      const index = entries.findLastIndex((entry: unknown) => nameOf(entry) === at.name);
      if (index === -1) return [];
      return [
        at.kind === 'policy'
          ? { path: [list, index, 'target'], message, hint: 'correct its `target`, or delete it' }
          : {
              path: [list, index, 'policies'],
              message,
              hint: 'guard connections by `frontendPolicies.networkAuthorization`, or give the route a backend of its own',
            },
      ];
    }),
};

function nameOf(entry: unknown): string | undefined {
  const name = isMap(entry) ? entry['name'] : undefined;
  return isMap(name) ? `${String(name['namespace'])}/${String(name['name'])}` : String(name);
}
