import { asArray, asObject, asText, isObject, valuesOf, type JsonObject } from '../protocol/lenient.ts';

export const resourceKinds = [
  'settings',
  'bind',
  'listener',
  'route',
  'backend',
  'service',
  'workload',
  'policy',
  'model',
] as const;
export type ResourceKind = (typeof resourceKinds)[number];

/** One thing that a configuration holds, without what only a running proxy knows. */
export interface LoadedResource {
  readonly kind: ResourceKind;
  /** Unique among the resources of its kind. */
  readonly key: string;
  readonly value: JsonObject;
}

/** Takes a raw `/config_dump` apart. Health, numbers and evictions of endpoints, ports that the system chose, version and revision are left out. */
export function loadedResources(raw: JsonObject): readonly LoadedResource[] {
  const routes = routesOf(raw);
  const inline = new Set(routes.flatMap(({ value }) => inlineNames(value)));
  const all: readonly LoadedResource[] = [
    { kind: 'settings', key: 'config', value: asObject(raw['config']) },
    ...bindsOf(raw),
    ...routes,
    ...valuesOf(raw['backends'])
      .map(backendOf)
      .filter(({ kind, key }) => kind !== 'backend' || !inline.has(key)),
    ...named('service', raw['services'], (value) => [value['namespace'], value['hostname'] ?? value['name']]),
    ...named('workload', raw['workloads'], (value) => [value['uid'] ?? value['name']]),
    ...named('policy', raw['policies'], (value) => [value['key']]),
    ...named('model', raw['models'], (value) => [value['key'] ?? value['name']]),
  ];
  return numbered(all.map((resource) => ({ ...resource, value: asObject(withoutState(resource.value)) })));
}

function bindsOf(raw: JsonObject): LoadedResource[] {
  return valuesOf(raw['binds']).flatMap((value) => {
    if (!isObject(value)) return [];
    const { listeners, address: written, ...bind } = value;
    const key = asText(value['key']) ?? asText(written) ?? '';
    // A bind on port 0 gets another port with every start.
    const address = key.endsWith('/0') ? asText(written)?.replace(/:\d+$/, ':0') : written;
    return [
      { kind: 'bind', key, value: { ...bind, address } } as const,
      ...entriesOf(listeners).map(([name, listener]) => {
        const { routes: _routes, tcpRoutes: _tcpRoutes, ...own } = asObject(listener);
        return { kind: 'listener', key: asText(own['key']) ?? name, value: { ...own, bind: key } } as const;
      }),
    ];
  });
}

function routesOf(raw: JsonObject): LoadedResource[] {
  const listeners = valuesOf(raw['binds']).flatMap((bind) => entriesOf(asObject(bind)['listeners']));
  const held = listeners.flatMap(([name, value]) => {
    const { key, routes, tcpRoutes } = asObject(value);
    const listener = asText(key) ?? name;
    return [...entriesOf(routes), ...entriesOf(tcpRoutes)].map((entry) => routeOf(entry, { listener }));
  });
  const loose = Object.entries(asObject(raw['routes'])).flatMap(([place, groups]) =>
    entriesOf(groups).flatMap(([group, value]) =>
      isRoute(value)
        ? [routeOf([group, value], { in: place })]
        : entriesOf(isObject(value) && 'routes' in value ? value['routes'] : value).map((entry) =>
            routeOf(entry, { in: `${place}/${group}` }),
          ),
    ),
  );
  return [...held, ...loose];
}

function isRoute(value: unknown): boolean {
  return isObject(value) && ('key' in value || 'backends' in value || 'matches' in value);
}

function routeOf([name, value]: Entry, place: JsonObject): LoadedResource {
  const route = asObject(value);
  return { kind: 'route', key: asText(route['key']) ?? name, value: { ...route, ...place } };
}

function inlineNames(route: JsonObject): readonly string[] {
  return asArray(route['backends']).flatMap((backend) => {
    const inline = asObject(asObject(backend)['inlineBackend']);
    return Object.values(inline).flatMap((value) => {
      const name = asText(asObject(value)['name']);
      return name === undefined ? [] : [`default/${name}`, name];
    });
  });
}

/** What a host resolves to is state; the endpoints of other kinds are their definition. */
function backendOf(value: unknown): LoadedResource {
  const { backend, ...rest } = asObject(value);
  const [variant] = Object.entries(asObject(backend));
  if (variant === undefined) return { kind: 'backend', key: asText(backend) ?? '', value: asObject(value) };
  const { endpoints, ...own } = asObject(variant[1]);
  const key = [asText(own['namespace']), asText(own['name'])].filter(Boolean).join('/');
  const shown = endpoints === undefined || 'target' in own ? own : { ...own, endpoints };
  return { kind: 'backend', key, value: { ...rest, [variant[0]]: shown } };
}

function named(
  kind: ResourceKind,
  values: unknown,
  keyOf: (value: JsonObject) => readonly unknown[],
): readonly LoadedResource[] {
  return valuesOf(values).map((value) => {
    const known = asObject(value);
    return {
      kind,
      key: keyOf(known)
        .flatMap((part) => asText(part) ?? [])
        .join('/'),
      value: known,
    };
  });
}

/** Endpoints are one list whether or not they are evicted, and what they have been doing is no part of a configuration. */
function withoutState(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutState);
  if (!isObject(value)) return value;
  const { active, rejected, ...rest } = value;
  if (Object.keys(rest).length === 0 && (active !== undefined || rejected !== undefined))
    return withoutState({ ...asObject(active), ...asObject(rejected) });
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      // What holds somewhere follows from what is written, which is compared where it is written.
      if (key === 'effectivePolicies' || (key === 'info' && 'endpoint' in value)) return [];
      return key === 'inlinePolicies' ? [['policies', policiesOf(item)]] : [[key, withoutState(item)]];
    }),
  );
}

/** `[{timeout: …}, {retry: …}]` by name, so that one more policy does not move the others. */
function policiesOf(value: unknown): unknown {
  const bodies = asArray(value).map(asObject);
  const names = bodies.flatMap((body) => Object.keys(body));
  const plain = Array.isArray(value) && bodies.every((body) => Object.keys(body).length === 1);
  return plain && new Set(names).size === names.length ? Object.assign({}, ...bodies) : value;
}

type Entry = readonly [string, unknown];

function entriesOf(value: unknown): readonly Entry[] {
  if (Array.isArray(value)) return value.map((item, at) => [String(at), item]);
  return Object.entries(asObject(value));
}

/** Gives the second one of a name a number. */
function numbered(resources: readonly LoadedResource[]): readonly LoadedResource[] {
  const seen = new Map<string, number>();
  return resources.map((resource) => {
    const id = `${resource.kind} ${resource.key}`;
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count === 1 ? resource : { ...resource, key: `${resource.key}#${count}` };
  });
}
