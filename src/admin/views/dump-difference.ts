import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../protocol/lenient.ts';
import { loadedResources, resourceKinds, type LoadedResource, type ResourceKind } from './loaded-resources.ts';

/** One place where two configurations differ. The JSON form of `config diff` is a list of these. */
export interface DumpDifference {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly resource: ResourceKind;
  readonly key: string;
  /** Place inside the resource, `matches[0].path.pathPrefix`; empty when the whole resource came or went. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What leads from one raw `/config_dump` to another, by resource; the order inside a dump does not count. */
export function dumpDifferences(before: JsonObject, after: JsonObject): readonly DumpDifference[] {
  const [from, to] = [byId(loadedResources(before)), byId(loadedResources(after))];
  const ids = [...new Set([...from.keys(), ...to.keys()])];
  const differences = ids.flatMap((id) => compareResource(from.get(id), to.get(id)));
  return differences.toSorted((a, b) => resourceKinds.indexOf(a.resource) - resourceKinds.indexOf(b.resource));
}

function byId(resources: readonly LoadedResource[]): ReadonlyMap<string, LoadedResource> {
  return new Map(resources.map((resource) => [`${resource.kind} ${resource.key}`, resource]));
}

function compareResource(before: LoadedResource | undefined, after: LoadedResource | undefined): DumpDifference[] {
  const known = before ?? after;
  if (known === undefined) return [];
  const place = { resource: known.kind, key: known.key };
  if (before === undefined) return [{ kind: 'added', ...place, path: '', after: after?.value }];
  if (after === undefined) return [{ kind: 'removed', ...place, path: '', before: before.value }];
  return compareValues(before.value, after.value, '').map((change) => ({ ...change, ...place }));
}

type Change = Pick<DumpDifference, 'kind' | 'path' | 'before' | 'after'>;

function compareValues(before: unknown, after: unknown, path: string): readonly Change[] {
  if (isDeepStrictEqual(before, after)) return [];
  // Absent and null say the same: there is none.
  if (before === undefined || before === null)
    return after === undefined || after === null ? [] : [{ kind: 'added', path, after }];
  if (after === undefined || after === null) return [{ kind: 'removed', path, before }];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => compareValues(before[key], after[key], path === '' ? key : `${path}${segment(key)}`));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => compareValues(before[at], after[at], `${path}[${at}]`)).flat();
  }
  return [{ kind: 'changed', path, before, after }];
}

function segment(key: string): string {
  return /^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
