import { published, type Schema } from './keys.ts';

/** Where a policy may stand. */
export interface Place {
  readonly schema: Schema;
  readonly places: readonly string[];
}

/** Connection-level settings of `frontendPolicies` that are policies. */
const FRONTEND = ['networkAuthorization', 'networkExtAuthz', 'accessLog', 'tracing', 'proxyProtocol', 'connect'];

const SETS: readonly (readonly [definition: string, place: string])[] = [
  ['Gateway', 'a gateway or listener (before routing)'],
  ['RoutePolicies', 'a route'],
  ['TargetedPolicyChoice', '`policies[]`'],
  ['BackendPolicies', 'a backend'],
];

/** Every policy with an effect, by name, in alphabetical order. */
export function policies(): ReadonlyMap<string, Place> {
  const found = new Map<string, { schema: Schema; places: string[] }>();
  for (const [definition, place] of SETS) {
    const { properties = {} } = published.definitions?.[definition] ?? {};
    for (const [name, schema] of Object.entries(properties)) {
      if (NOT_POLICIES.has(name) || isRefused(schema)) continue;
      const known = found.get(name) ?? { schema, places: [] };
      known.places.push(place);
      found.set(name, known);
    }
  }
  const frontend = published.definitions?.['FrontendPolicies']?.properties ?? {};
  for (const name of FRONTEND) {
    const schema = frontend[name];
    if (schema !== undefined && !isRefused(schema)) found.set(name, { schema, places: ['`frontendPolicies`'] });
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const NOT_POLICIES: ReadonlySet<string> = new Set(['port', 'protocol', 'tls', 'listeners']);

function isRefused({ description = '' }: Schema): boolean {
  return description.includes('Not built in this release: refused');
}
