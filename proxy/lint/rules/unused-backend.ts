import type { Found, LintRule } from '../finding.ts';
import { isMap, walk } from '../walk.ts';

/** A backend that nothing names. */
export const unusedBackend: LintRule = {
  code: 'GW_LINT_UNUSED_BACKEND',
  severity: 'info',
  summary: 'an entry of `backends` that nothing refers to',
  check: ({ raw }) => {
    const backends = isMap(raw) && Array.isArray(raw['backends']) ? raw['backends'] : [];
    const used = new Set<string>();
    for (const { path, value } of walk(raw)) {
      if (path.at(-1) === 'backend' && typeof value === 'string') used.add(value.replace(/^\//, ''));
    }
    return backends.flatMap((backend: unknown, index): Found[] => {
      const name = isMap(backend) ? backend['name'] : undefined;
      if (typeof name !== 'string' || used.has(name)) return [];
      const message = `nothing refers to the backend ${JSON.stringify(name)}`;
      return [{ path: ['backends', index, 'name'], message, hint: 'delete it, or name it in a route' }];
    });
  },
};
