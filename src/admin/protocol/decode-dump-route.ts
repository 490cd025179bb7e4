import {
  asArray,
  asNumber,
  asObject,
  asText,
  isObject,
  type JsonObject,
  textsOf,
  valuesOf,
  variantOf,
} from './lenient.ts';

export interface DumpRoute {
  readonly key: string;
  readonly kind: 'http' | 'tcp';
  readonly name: string;
  readonly namespace: string;
  readonly ruleName: string;
  /** Name of the listener that holds it, `group <name>`, or empty. */
  readonly listener: string;
  readonly hostnames: readonly string[];
  readonly matches: readonly DumpMatch[];
  readonly backends: readonly DumpRouteBackend[];
  readonly policies: readonly string[];
  readonly effective: readonly DumpEffective[];
}

export interface DumpMatch {
  /** `prefix /api`, `exact /`, `regex ^/v[12]`. */
  readonly path: string;
  readonly method: string;
  /** `x-team = a`, `x-team ~ a|b`. */
  readonly headers: readonly string[];
  readonly query: readonly string[];
}

export interface DumpRouteBackend {
  readonly name: string;
  readonly weight: number;
  readonly policies: readonly string[];
  readonly effective: readonly DumpEffective[];
}

/** A policy that holds at a place, once those of all levels are put together. */
export interface DumpEffective {
  readonly kind: string;
  /** The resource that it comes from. */
  readonly source: string;
  /** Its settings; null when the dump leaves them at the source. */
  readonly settings: unknown;
  /** Keys of the routes that lead here, for a route of a group. */
  readonly via: readonly string[];
}

export interface DumpPolicy {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** `gateway default/web`, `route shop/cart`, … */
  readonly target: string;
  /** `frontend`, `traffic route`, `traffic gateway`, `backend`. */
  readonly phase: string;
  readonly policies: readonly string[];
}

export function decodeRoute(value: unknown, context: { listener: string; kind: 'http' | 'tcp' }): DumpRoute[] {
  if (!isObject(value)) return [];
  const key = asText(value['key']) ?? asText(value['name']) ?? '';
  return [
    {
      key,
      kind: context.kind,
      name: asText(value['name']) ?? key,
      namespace: asText(value['namespace']) ?? '',
      ruleName: asText(value['ruleName']) ?? '',
      listener: context.listener,
      hostnames: textsOf(value['hostnames']),
      matches: asArray(value['matches']).flatMap(decodeMatch),
      backends: asArray(value['backends']).flatMap(decodeRouteBackend),
      policies: policyNamesOf(value['inlinePolicies']),
      effective: effectiveOf(value),
    },
  ];
}

/** The policies that hold at a listener, a route or a backend of a route. */
export function effectiveOf(value: JsonObject): readonly DumpEffective[] {
  return asArray(value['effectivePolicies']).flatMap((entry): DumpEffective[] => {
    const { kind, source, policy, via } = asObject(entry);
    const name = asText(kind);
    if (name === undefined) return [];
    return [{ kind: name, source: asText(source) ?? '', settings: asObject(policy)[name] ?? null, via: textsOf(via) }];
  });
}

function decodeMatch(value: unknown): DumpMatch[] {
  if (!isObject(value)) return [];
  return [
    {
      path: pathText(value['path']),
      method: asText(value['method']) ?? asText(asObject(value['method'])['method']) ?? '',
      headers: asArray(value['headers']).flatMap(comparison),
      query: asArray(value['query']).flatMap(comparison),
    },
  ];
}

const PATH_WORDS: Readonly<Record<string, string>> = { pathPrefix: 'prefix', exact: 'exact', regex: 'regex' };

function pathText(value: unknown): string {
  const path = variantOf(value);
  if (path === undefined) return '';
  const operand = Array.isArray(path.value) ? path.value[0] : path.value;
  return [PATH_WORDS[path.kind] ?? path.kind, asText(operand)].filter(Boolean).join(' ');
}

function comparison(value: unknown): string[] {
  if (!isObject(value)) return [];
  const name = asText(value['name']) ?? '?';
  const wanted = variantOf(value['value']);
  if (wanted === undefined) return [name];
  return [`${name} ${wanted.kind === 'regex' ? '~' : '='} ${asText(wanted.value) ?? wanted.kind}`];
}

function decodeRouteBackend(value: unknown): DumpRouteBackend[] {
  if (typeof value === 'string') return [{ name: value, weight: 1, policies: [], effective: [] }];
  if (!isObject(value)) return [];
  return [
    {
      name: backendName(value),
      weight: asNumber(value['weight']) ?? 1,
      policies: policyNamesOf(value['inlinePolicies']),
      effective: effectiveOf(value),
    },
  ];
}

function backendName(value: Readonly<Record<string, unknown>>): string {
  const named = asText(value['backend']);
  // The key of a backend without a namespace begins with the slash that would stand behind one.
  if (named !== undefined) return named.replace(/^\//, '');
  const group = asText(value['routeGroup']);
  if (group !== undefined) return `group ${group}`;
  const inline = inlineTarget(value['inlineBackend'] ?? value['backend']);
  if (inline !== undefined) return inline;
  if (isObject(value['service'])) return serviceText(value['service']);
  return 'invalid' in value ? 'invalid' : '?';
}

function inlineTarget(value: unknown): string | undefined {
  const variant = variantOf(value);
  if (variant === undefined) return undefined;
  const inner = asObject(variant.value);
  return asText(inner['target']) ?? asText(variant.value) ?? asText(inner['name']) ?? variant.kind;
}

function serviceText(value: Readonly<Record<string, unknown>>): string {
  const name = value['name'] ?? value['hostname'];
  const text = isObject(name)
    ? joined(name, ['namespace', 'hostname'])
    : joined(value, ['namespace', 'name', 'hostname']);
  const port = asText(value['port']);
  return port === undefined ? text : `${text}:${port}`;
}

/** The policy words of an inline policy list (`[{timeout: …}, {cors: …}]`) or object, nulls left out. */
export function policyNamesOf(value: unknown): readonly string[] {
  const objects = Array.isArray(value) ? value : [value];
  return [...new Set(objects.flatMap(namesOfOne))];
}

const WRAPPERS = new Set(['traffic', 'backend', 'frontend']);

function namesOfOne(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Object.entries(asObject(value)).flatMap(([key, inner]) => {
    if (key === 'phase' || inner === null || inner === undefined) return [];
    return WRAPPERS.has(key) && isObject(inner) ? namesOfOne(inner) : [key];
  });
}

export function decodePolicy(value: unknown): DumpPolicy[] {
  if (!isObject(value)) return [];
  const name = asObject(value['name']);
  const policy = variantOf(value['policy']);
  const phase = asText(asObject(policy?.value)['phase']);
  return [
    {
      key: asText(value['key']) ?? '',
      kind: asText(name['kind']) ?? '',
      name: asText(name['name']) ?? asText(value['name']) ?? '',
      namespace: asText(name['namespace']) ?? '',
      target: targetText(value['target']),
      phase: [policy?.kind, phase].filter(Boolean).join(' '),
      policies: policyNamesOf(value['policy']),
    },
  ];
}

function targetText(value: unknown): string {
  const target = variantOf(value);
  if (target === undefined) return '';
  const inner = asObject(target.value);
  if (target.kind === 'backend' && valuesOf(inner).some(isObject)) return targetText(inner);
  const names = joined(inner, [
    'gatewayNamespace',
    'namespace',
    'gatewayName',
    'hostname',
    'name',
    'listenerName',
    'ruleName',
    'section',
  ]);
  const port = asText(inner['port']);
  return `${target.kind} ${names}${port === undefined ? '' : `:${port}`}`.trim();
}

function joined(value: Readonly<Record<string, unknown>>, keys: readonly string[]): string {
  return keys.flatMap((key) => asText(value[key]) || []).join('/');
}
