import { GwError } from '../../shared/errors.ts';
import { decodeBackend, decodeService, type DumpBackend } from './decode-dump-backend.ts';
import { decodeModel, type DumpModel } from './decode-dump-model.ts';
import {
  decodePolicy,
  decodeRoute,
  type DumpEffective,
  type DumpPolicy,
  type DumpRoute,
  effectiveOf,
  policyNamesOf,
} from './decode-dump-route.ts';
import { asArray, asObject, asText, isObject, valuesOf, variantOf, type JsonObject } from './lenient.ts';

export type { DumpModel } from './decode-dump-model.ts';
export type { DumpMcp, DumpMcpTarget } from './decode-dump-mcp.ts';
export type { DumpBackend, DumpEndpoint, DumpNumbers } from './decode-dump-backend.ts';
export type { DumpEffective, DumpMatch, DumpPolicy, DumpRoute, DumpRouteBackend } from './decode-dump-route.ts';

/** What `/config_dump` says, whatever proxy said it; unknown parts are left out, `raw` has everything. */
export interface Dump {
  readonly raw: JsonObject;
  readonly binds: readonly DumpBind[];
  /** Routes of groups and of services, which no listener holds. */
  readonly looseRoutes: readonly DumpRoute[];
  readonly backends: readonly DumpBackend[];
  readonly services: readonly DumpBackend[];
  readonly policies: readonly DumpPolicy[];
  readonly workloads: number;
  readonly models: readonly DumpModel[];
  readonly version: string | undefined;
  readonly gitRevision: string | undefined;
  /** Counts the configurations that went live, for servers that tell. */
  readonly revision: string | undefined;
}

export interface DumpBind {
  readonly key: string;
  readonly address: string;
  readonly protocol: string;
  readonly tunnelProtocol: string;
  readonly mode: string;
  readonly listeners: readonly DumpListener[];
}

export interface DumpListener {
  readonly key: string;
  readonly name: string;
  readonly gateway: string;
  readonly hostname: string;
  readonly protocol: string;
  readonly policies: readonly string[];
  /** Of the gateway phase. */
  readonly effective: readonly DumpEffective[];
  readonly routes: readonly DumpRoute[];
}

const KNOWN_KEYS = ['binds', 'backends', 'services', 'routes', 'policies', 'workloads'];

/** Reads a parsed `/config_dump`; throws only when the value is no dump at all. */
export function decodeConfigDump(value: unknown): Dump {
  if (!isObject(value) || !KNOWN_KEYS.some((key) => key in value)) {
    throw new GwError('this is not a configuration dump: none of its keys is known', {
      code: 'GW_NOT_A_DUMP',
      hint: 'gwctl proxy config all --local -o json > dump.json',
    });
  }
  const version = asObject(value['version']);
  const revision = value['revision'] ?? asObject(value['config'])['revision'];
  return {
    raw: value,
    binds: valuesOf(value['binds']).flatMap(decodeBind),
    looseRoutes: looseRoutesOf(value['routes']),
    backends: asArray(value['backends']).flatMap(decodeBackend),
    services: valuesOf(value['services']).flatMap(decodeService),
    policies: valuesOf(value['policies']).flatMap(decodePolicy),
    workloads: valuesOf(value['workloads']).length,
    models: valuesOf(value['models']).flatMap(decodeModel),
    version: asText(version['version']) ?? asText(value['version']),
    gitRevision: asText(version['git_revision']) ?? asText(version['gitRevision']),
    revision: asText(revision) ?? asText(asObject(revision)['live']),
  };
}

function decodeBind(value: unknown): DumpBind[] {
  if (!isObject(value)) return [];
  const address = asText(value['address']) ?? '';
  return [
    {
      key: asText(value['key']) ?? address,
      address,
      protocol: asText(value['protocol']) ?? '',
      tunnelProtocol: asText(value['tunnelProtocol']) ?? '',
      mode: asText(value['mode']) ?? '',
      listeners: valuesOf(value['listeners']).flatMap(decodeListener),
    },
  ];
}

function decodeListener(value: unknown): DumpListener[] {
  if (!isObject(value)) return [];
  const gateway = [asText(value['gatewayNamespace']), asText(value['gatewayName'])].filter(Boolean).join('/');
  const name = asText(value['listenerName']) ?? asText(value['name']) ?? asText(value['key']) ?? '';
  const context = { listener: name };
  return [
    {
      key: asText(value['key']) ?? name,
      name,
      gateway,
      hostname: asText(value['hostname']) ?? '',
      protocol: variantOf(value['protocol'])?.kind ?? '',
      policies: policyNamesOf(value['inlinePolicies']),
      effective: effectiveOf(value),
      routes: [
        ...valuesOf(value['routes']).flatMap((route) => decodeRoute(route, { ...context, kind: 'http' })),
        ...valuesOf(value['tcpRoutes']).flatMap((route) => decodeRoute(route, { ...context, kind: 'tcp' })),
      ],
    },
  ];
}

function looseRoutesOf(value: unknown): DumpRoute[] {
  const { httpMesh, tcpMesh, routeGroups } = asObject(value);
  const http = { listener: '', kind: 'http' } as const;
  return [
    ...flatRoutes(httpMesh).flatMap((route) => decodeRoute(route, http)),
    ...flatRoutes(tcpMesh).flatMap((route) => decodeRoute(route, { listener: '', kind: 'tcp' })),
    ...groupsOf(routeGroups).flatMap(([name, routes]) =>
      flatRoutes(routes).flatMap((route) => decodeRoute(route, { ...http, listener: `group ${name}` })),
    ),
  ];
}

/** Groups are keyed by name, or listed with a `name`. */
function groupsOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map(namedGroup);
  return Object.entries(asObject(value)).map(([key, item]) => [
    key,
    isObject(item) && 'routes' in item ? item['routes'] : item,
  ]);
}

function namedGroup(item: unknown): readonly [string, unknown] {
  const group = asObject(item);
  return [asText(group['name']) ?? asText(group['key']) ?? '?', group['routes']];
}

/** Routes may lie in a list, in a map, or one level deeper, by service. */
function flatRoutes(value: unknown): readonly unknown[] {
  return valuesOf(value).flatMap((item) => (isRoute(item) ? [item] : valuesOf(item)));
}

function isRoute(value: unknown): boolean {
  return isObject(value) && ('key' in value || 'backends' in value || 'matches' in value);
}
