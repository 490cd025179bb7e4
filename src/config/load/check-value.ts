import { parseAddress } from '../normalize/address.ts';
import { parseHostTarget, parsePort } from '../normalize/host-target.ts';
import { parseMcpAddress } from '../normalize/mcp/place.ts';
import { plainName, type Names } from '../normalize/names.ts';
import { parseServiceHost } from '../normalize/service-host.ts';
import type { CheckKind } from '../schema/marks.ts';
import { isMap } from '../schema/walk.ts';
import type { CollectedKind } from './texts.ts';
import type { Path, Problem } from './problem.ts';
import { nearest } from './suggest.ts';

/**
 * Checks that go beyond the form of a value: names have to be declared, addresses have to be readable. They look at the raw
 * value, so that a mistake elsewhere in the same route does not hide them. Wrong types are left to the schema.
 */
export function checkValue(
  kind: Exclude<CheckKind, CollectedKind>,
  value: unknown,
  at: { readonly path: Path; readonly names: Names },
): Problem[] {
  const { path, names } = at;
  switch (kind) {
    case 'backend':
      return typeof value === 'string'
        ? dangling({ what: 'backend', name: plainName(value), known: names.backends, section: 'backends' }, path)
        : [];
    case 'routeGroup':
      return typeof value === 'string'
        ? dangling({ what: 'route group', name: value, known: names.routeGroups, section: 'routeGroups' }, path)
        : [];
    case 'service':
      return isMap(value) ? danglingService(value, at) : [];
    case 'gateway':
      return gatewayNames(value, path).flatMap(({ name, place }) =>
        dangling({ what: 'gateway', name, known: names.gateways, section: 'gateways' }, place),
      );
    case 'address':
      return typeof value === 'string' ? unreadable(value, parseAddress(value, true), path) : [];
    case 'host':
      return typeof value === 'string' ? unreadable(value, parseHostTarget(value), path) : [];
    case 'serviceHost':
      return typeof value === 'string' ? unreadable(value, parseServiceHost(value), path) : [];
    case 'mcpPlace':
      return isMap(value) ? mcpPlace(value, path) : [];
    case 'openApiPlace':
      return isMap(value) ? openApiPlace(value, path) : [];
  }
}

function mcpPlace({ host, port, path: named }: Readonly<Record<string, unknown>>, path: Path): Problem[] {
  if (typeof host !== 'string') return [];
  const parts = {
    port: typeof port === 'number' ? port : undefined,
    path: typeof named === 'string' ? named : undefined,
  };
  // A port out of range, and one of the two alone, is left to the schema.
  const { port: number } = parts;
  const whole = (number === undefined) === (parts.path === undefined);
  return whole && (number === undefined || parsePort(String(number)) !== undefined)
    ? unreadable(host, parseMcpAddress({ host, ...parts }), [...path, 'host'])
    : [];
}

/** The path goes before others, so there is no place for a query. */
function openApiPlace(value: Readonly<Record<string, unknown>>, path: Path): Problem[] {
  const problems = mcpPlace(value, path);
  if (problems.length > 0) return problems;
  const key = ['host', 'path'].find((each) => String(value[each]).includes('?'));
  const message = 'expected no query: this goes before the path of every operation';
  return key === undefined ? [] : [{ path: [...path, key], code: 'GW_CONFIG_VALUE', message }];
}

export interface Wanted {
  readonly what: string;
  readonly name: string;
  readonly known: ReadonlySet<string>;
  /** Where such names are declared. */
  readonly section: string;
}

/** A name that nothing declares. */
export function dangling({ what, name, known, section }: Wanted, path: Path): Problem[] {
  if (known.has(name)) return [];
  const near = nearest(name, [...known]);
  const hint = near === undefined ? `declare it under \`${section}\`` : `did you mean \`${near}\`?`;
  return [{ path, code: 'GW_CONFIG_REFERENCE', message: `there is no ${what} ${JSON.stringify(name)}`, hint }];
}

/** A service or a port of it that nothing declares. */
export function danglingService(
  value: Readonly<Record<string, unknown>>,
  { path, names }: { readonly path: Path; readonly names: Names },
): Problem[] {
  const { name: written, port } = value;
  const slash = typeof written === 'string' ? written.indexOf('/') : -1;
  if (typeof written !== 'string' || slash === -1) return [];
  const name = `${written.slice(0, slash)}/${written.slice(slash + 1).toLowerCase()}`;
  const missing = dangling({ what: 'service', name, known: new Set(names.services.keys()), section: 'services' }, [
    ...path,
    'name',
  ]);
  const ports = names.services.get(name);
  if (ports === undefined || typeof port !== 'number' || ports.has(String(port))) return missing;
  const hint = `its ports: ${[...ports].join(', ') || 'none'}`;
  return [
    { path: [...path, 'port'], code: 'GW_CONFIG_REFERENCE', message: `the service ${name} has no port ${port}`, hint },
  ];
}

function gatewayNames(value: unknown, path: Path): { readonly name: string; readonly place: Path }[] {
  const refs: readonly unknown[] = Array.isArray(value) ? value : [value];
  return refs.flatMap((ref, index) => {
    if (typeof ref !== 'string' || ref === '') return [];
    const slash = ref.indexOf('/');
    return [{ name: slash === -1 ? ref : ref.slice(0, slash), place: Array.isArray(value) ? [...path, index] : path }];
  });
}

/** What a reader says about a value; an empty one is left to the schema. */
function unreadable(value: string, read: object | string, path: Path): Problem[] {
  return typeof read === 'string' && value !== '' ? [{ path, code: 'GW_CONFIG_VALUE', message: read }] : [];
}
