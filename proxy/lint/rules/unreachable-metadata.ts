import type { HttpRoute, Listener, PathMatch } from '../../../src/config/ir/index.ts';
import { routeSource } from '../../policy/target.ts';
import { normalPrefix } from '../../routing/bucket.ts';
import type { Found, LintRule } from '../finding.ts';
import { placeOfSource } from '../places.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';

/** A login of MCP clients that are sent to a path which no route takes. */
export const unreachableMetadata: LintRule = {
  code: 'GW_LINT_MCP_METADATA_UNREACHABLE',
  severity: 'warning',
  summary:
    '`mcpAuthentication`, or `jwtAuth` with `mcp`, on a route for some paths, and no route takes their `/.well-known` paths',
  check: ({ config, raw }) => {
    const found = new Map<string, Found>();
    for (const listener of config.binds.flatMap((bind) => bind.listeners)) {
      for (const { route, policy, path } of misses(listener)) {
        const place = placeOfSource(raw, routeSource(route));
        if (place === null) continue;
        const wanted = RESOURCE + path;
        found.set(JSON.stringify([place, policy]), {
          path: [...place, 'policies', policy],
          atKey: true,
          message: `clients without a token are sent to ${wanted}, which no route takes`,
          hint: `match \`{path: {pathPrefix: ${wanted}}}\` too, and the same below /.well-known/oauth-authorization-server`,
        });
      }
    }
    return [...found.values()];
  },
};

interface Miss {
  readonly route: HttpRoute;
  readonly policy: 'mcpAuthentication' | 'jwtAuth';
  readonly path: string;
}

function misses({ policies, routes }: Listener): readonly Miss[] {
  // What stands on the listener answers before a route is chosen.
  if (policies.jwtAuth?.mcp !== undefined) return [];
  const taken = routes.flatMap(({ matches }) => matches.map(({ path }) => path));
  return routes.flatMap((route): Miss[] => {
    const policy = loginOf(route);
    if (policy === null) return [];
    const paths = route.matches.flatMap(({ path }) => pathOf(path) ?? []);
    const missed = paths.find((path) => !taken.some((each) => takes(each, RESOURCE + path)));
    return missed === undefined ? [] : [{ route, policy, path: missed }];
  });
}

function loginOf({ policies }: HttpRoute): Miss['policy'] | null {
  if (policies.mcpAuthentication !== undefined) return 'mcpAuthentication';
  return policies.jwtAuth?.mcp === undefined ? null : 'jwtAuth';
}

/** The path of an MCP server; null for paths of the metadata themselves, and for those that are not told. */
function pathOf(path: PathMatch): string | null {
  return path.kind === 'regex' || path.value.startsWith('/.well-known') ? null : normalPrefix(path.value);
}

function takes(match: PathMatch, path: string): boolean {
  if (match.kind === 'regex') return true;
  if (match.kind === 'exact') return match.value === path;
  const prefix = normalPrefix(match.value);
  return path === prefix || path.startsWith(`${prefix}/`);
}
