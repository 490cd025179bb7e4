import type { HostBackend, SimpleBackendRef } from '../ir/backend.ts';
import type { Path } from '../load/problem.ts';
import type { SimpleRefSpec } from '../schema/policy/request-mirror.ts';
import { parseHostTarget } from './host-target.ts';
import { plainName } from './names.ts';

/** Where backends or policies are written. */
export interface Place {
  readonly path: Path;
  /** Key of what they stand on; names the backends written inside. */
  readonly key: string;
  /** The entry of the file that it comes from, when that is written once and stands in several places. */
  readonly origin?: string | undefined;
}

/** A backend written as an address; undefined when it cannot be read, which was told while screening. */
export function hostBackend(host: string, key: string): HostBackend | undefined {
  const target = parseHostTarget(host);
  return typeof target === 'string' ? undefined : { kind: 'host', key, target };
}

/** The kinds that every place knows: a service or a named backend. */
export function simpleBackend({
  service,
  backend,
}: SimpleRefSpec): Exclude<SimpleBackendRef, { kind: 'inline' }> | undefined {
  if (service !== undefined) {
    const slash = service.name.indexOf('/');
    const hostname = service.name.slice(slash + 1).toLowerCase();
    return { kind: 'service', namespace: service.name.slice(0, slash), hostname, port: service.port };
  }
  return backend === undefined ? undefined : { kind: 'reference', backend: `/${plainName(backend)}` };
}

/** A backend in a place that takes only simple ones; `key` is for one written inline. */
export function simpleBackendRef(spec: SimpleRefSpec, key: string): SimpleBackendRef | undefined {
  const simple = simpleBackend(spec);
  if (simple !== undefined || spec.host === undefined) return simple;
  const backend = hostBackend(spec.host, key);
  return backend === undefined ? undefined : { kind: 'inline', backend };
}
