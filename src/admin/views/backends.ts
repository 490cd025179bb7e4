import type { Dump, DumpBackend, DumpEndpoint } from '../protocol/decode-config-dump.ts';

/** One endpoint and how it has been doing. The JSON form of `config backends` is a list of these. */
export interface BackendRow {
  readonly type: 'Service' | 'Backend';
  readonly name: string;
  readonly namespace: string;
  readonly endpoint: string;
  /** 0..1, null when the dump has no number. */
  readonly health: number | null;
  readonly evicted: boolean;
  /** Milliseconds until an evicted endpoint comes back, null when it is not evicted or nobody knows. */
  readonly evictedForMs: number | null;
  readonly requests: number;
  /** Moving average of the time to an answer, milliseconds. */
  readonly latencyMs: number;
  readonly pending: number;
  readonly failures: number;
  readonly ejections: number;
  readonly lastError: string | null;
  /** Priority group, 0 is preferred. */
  readonly priority: number;
}

/** Every endpoint of the dump, ordered by type, namespace, name and endpoint. Without `all` only those that had requests. */
export function backendRows(dump: Dump, all: boolean): readonly BackendRow[] {
  const rows = [
    ...dump.services.flatMap((service) => rowsOf('Service', service, all)),
    ...dump.backends.flatMap((backend) => rowsOf('Backend', backend, all)),
  ];
  return rows.filter((row) => all || row.requests > 0).sort(byPlace);
}

function rowsOf(type: BackendRow['type'], backend: DumpBackend, all: boolean): BackendRow[] {
  if (backend.endpoints.length > 0) return backend.endpoints.map((endpoint) => rowOf(type, backend, endpoint));
  return all && backend.name !== '' ? [withoutEndpoints(type, backend)] : [];
}

function rowOf(type: BackendRow['type'], backend: DumpBackend, endpoint: DumpEndpoint): BackendRow {
  return {
    type,
    name: backend.name,
    namespace: backend.namespace,
    endpoint: endpointName(endpoint, backend.namespace),
    health: endpoint.health ?? null,
    evicted: endpoint.evicted,
    evictedForMs: endpoint.evicted ? (endpoint.evictedForMs ?? null) : null,
    requests: endpoint.requests,
    latencyMs: Math.round(endpoint.latencyMs * 1000) / 1000,
    pending: endpoint.pending,
    failures: endpoint.failures,
    ejections: endpoint.ejections,
    lastError: endpoint.lastError ?? null,
    priority: endpoint.priority,
  };
}

/** A backend that the dump tells nothing about but where it leads. */
function withoutEndpoints(type: BackendRow['type'], backend: DumpBackend): BackendRow {
  const quiet = { requests: 0, latencyMs: 0, pending: 0, failures: 0, ejections: 0, priority: 0 };
  const unknown = { health: null, evicted: false, evictedForMs: null, lastError: null };
  return { type, name: backend.name, namespace: backend.namespace, endpoint: backend.target, ...quiet, ...unknown };
}

function endpointName(endpoint: DumpEndpoint, namespace: string): string {
  for (const candidate of [endpoint.id, ...endpoint.names]) {
    const name = shorten(candidate, namespace);
    if (name !== '') return name;
  }
  return '';
}

/** `//Pod/shop/cart-7` is `cart-7` in namespace `shop` and `shop/cart-7` elsewhere. */
function shorten(id: string, namespace: string): string {
  const segments = id.replace(/^\/+/, '').split('/');
  const rest = segments.slice(segments.indexOf('Pod') + 1);
  return (rest.length > 1 && rest[0] === namespace ? rest.slice(1) : rest).join('/');
}

function byPlace(a: BackendRow, b: BackendRow): number {
  return (
    compare(a.type, b.type) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name) ||
    a.priority - b.priority ||
    compare(a.endpoint, b.endpoint)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
