import type { Dump, DumpMatch } from '../protocol/decode-config-dump.ts';

/** One route of the live configuration. */
export interface RouteRow {
  readonly listener: string;
  readonly route: string;
  readonly namespace: string;
  readonly kind: 'http' | 'tcp';
  readonly key: string;
  readonly rule: string;
  readonly hostnames: readonly string[];
  /** Alternatives: `prefix /api GET x-team = a ?page = 1`. */
  readonly matches: readonly string[];
  readonly backends: readonly { readonly name: string; readonly weight: number }[];
  readonly policies: readonly string[];
}

/** Every route in the order of the dump, those of listeners first. */
export function routeRows(dump: Dump): readonly RouteRow[] {
  const held = dump.binds.flatMap((bind) => bind.listeners.flatMap((listener) => listener.routes));
  return [...held, ...dump.looseRoutes].map((route) => ({
    listener: route.listener,
    route: route.name,
    namespace: route.namespace,
    kind: route.kind,
    key: route.key,
    rule: route.ruleName,
    hostnames: route.hostnames,
    matches: route.matches.map(matchText),
    backends: route.backends.map(({ name, weight }) => ({ name, weight })),
    policies: [...new Set([...route.policies, ...route.backends.flatMap((backend) => backend.policies)])],
  }));
}

function matchText(match: DumpMatch): string {
  return [match.method, match.path, ...match.headers, ...match.query.map((query) => `?${query}`)]
    .filter(Boolean)
    .join(' ');
}
