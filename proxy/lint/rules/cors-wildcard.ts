import type { Found, LintRule } from '../finding.ts';
import { isMap, under } from '../walk.ts';

/** Every page of the web may act for a user who is logged in. */
export const corsWildcard: LintRule = {
  code: 'GW_LINT_CORS_ANY_ORIGIN',
  severity: 'warning',
  summary: '`cors` lets every origin send credentials',
  check: ({ raw }) =>
    [...under(raw, 'cors')].flatMap(({ path, value }): Found[] => {
      if (!isMap(value) || value['allowCredentials'] !== true) return [];
      const origins: readonly unknown[] = Array.isArray(value['allowOrigins']) ? value['allowOrigins'] : [];
      const index = origins.indexOf('*');
      if (index === -1) return [];
      return [
        {
          path: [...path, 'allowOrigins', index],
          message: 'every page of the web may send requests with the cookies of whoever looks at it',
          hint: 'name the origins, or set `allowCredentials: false`',
        },
      ];
    }),
};
