import type { Dump, DumpMatch, DumpRoute } from '../protocol/decode-config-dump.ts';

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
    policies: policiesOf(route),
  }));
}

/** What holds for the route and its backends, wherever it is written; what is written there, when the proxy tells no more. */
function policiesOf({ effective, policies, backends }: DumpRoute): readonly string[] {
  const told = [effective, ...backends.map((backend) => backend.effective)].flat().map(({ kind }) => kind);
  const written = [policies, ...backends.map((backend) => backend.policies)].flat();
  return [...new Set([...told, ...written])];
}

function matchText(match: DumpMatch): string {
  return [match.method, match.path, ...match.headers, ...match.query.map((query) => `?${query}`)]
    .filter(Boolean)
    .join(' ');
}
