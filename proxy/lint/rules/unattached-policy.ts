import { policyWarnings } from '../../policy/warnings.ts';
import type { Found, LintRule } from '../finding.ts';
import { isMap } from '../walk.ts';

/** A policy that nothing takes, or that an earlier one hides. */
export const unattachedPolicy: LintRule = {
  code: 'GW_LINT_UNATTACHED_POLICY',
  severity: 'warning',
  summary: 'an entry of `policies` that attaches to nothing, or that an earlier entry hides',
  check: ({ config, raw }) => {
    const entries = isMap(raw) && Array.isArray(raw['policies']) ? raw['policies'] : [];
    return policyWarnings(config).flatMap((message): Found[] => {
      const name = /^policy (\S+) on /.exec(message)?.[1];
      const index = entries.findLastIndex((entry: unknown) => name !== undefined && nameOf(entry) === name);
      if (index === -1) return [];
      return [{ path: ['policies', index, 'target'], message, hint: 'correct its `target`, or delete it' }];
    });
  },
};

function nameOf(entry: unknown): string | undefined {
  const name = isMap(entry) ? entry['name'] : undefined;
  return isMap(name) ? `${String(name['namespace'])}/${String(name['name'])}` : undefined;
}
