import type { Found, LintRule } from '../finding.ts';
import { isMap, walk } from '../walk.ts';

const GUARDS = ['authorization', 'extAuthz', 'jwtAuth', 'apiKey', 'basicAuth', 'oidc'];

/** A backend that reaches whatever the client names, with nothing in front. */
export const openProxy: LintRule = {
  code: 'GW_LINT_OPEN_PROXY',
  severity: 'error',
  summary: 'a `dynamic` backend without a policy that decides who may use it',
  check: ({ raw }) => {
    const guarded = [...walk(raw)].some(
      ({ path, key }) =>
        typeof key === 'string' &&
        (GUARDS.includes(key) || key === 'networkAuthorization' || key === 'networkExtAuthz') &&
        path[0] !== 'routes',
    );
    if (guarded || !isMap(raw)) return [];
    return [...walk(raw)].flatMap(({ path, key, value }): Found[] => {
      if (key !== 'backends' || !Array.isArray(value)) return [];
      const index = value.findIndex((each: unknown) => isMap(each) && isOpen(each));
      const route = at(raw, path.slice(0, -1));
      if (index === -1 || (isMap(route) && isMap(route['policies']) && hasGuard(route['policies']))) return [];
      return [
        {
          path: [...path, index, 'dynamic'],
          atKey: true,
          message: 'anybody can reach any host through this route, those of your own network included',
          hint: 'put `authorization` or a login in front, or name the hosts',
        },
      ];
    });
  },
};

/** It goes wherever the client says. */
function isOpen(backend: Readonly<Record<string, unknown>>): boolean {
  if (!('dynamic' in backend)) return false;
  const { dynamic } = backend;
  return dynamic === null || (isMap(dynamic) && (dynamic['target'] ?? null) === null);
}

function hasGuard(policies: Readonly<Record<string, unknown>>): boolean {
  return GUARDS.some((guard) => policies[guard] !== undefined);
}

function at(raw: unknown, path: readonly (string | number)[]): unknown {
  let value: unknown = raw;
  for (const part of path) {
    // `as`: a path that was walked before.
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return value;
}
