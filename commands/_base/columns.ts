import type { ListenerRow } from '../../src/admin/views/listeners.ts';
import type { EffectivePolicyRow, PolicyRow } from '../../src/admin/views/policies.ts';
import type { RouteRow } from '../../src/admin/views/routes.ts';
import type { Column } from '../../ui/text/table.ts';

/** Columns that a table of its own and the summary share. */
export const listenerColumns: readonly Column<ListenerRow>[] = [
  { title: 'ADDRESS', value: (row) => row.address },
  { title: 'LISTENER', value: (row) => row.listener },
  { title: 'GATEWAY', value: (row) => row.gateway },
  { title: 'HOSTNAME', value: (row) => row.hostname || '*' },
  { title: 'PROTOCOL', value: (row) => row.protocol },
  { title: 'ROUTES', value: (row) => String(row.routes) },
];

export const routeColumns: readonly Column<RouteRow>[] = [
  { title: 'LISTENER', value: (row) => row.listener },
  { title: 'ROUTE', value: (row) => row.route },
  { title: 'HOSTNAMES', value: (row) => row.hostnames.join(',') || '*' },
  { title: 'MATCH', value: (row) => row.matches.join(' | ') || (row.kind === 'tcp' ? 'any connection' : 'nothing') },
  { title: 'BACKENDS', value: backendsText },
  { title: 'POLICIES', value: (row) => row.policies.join(',') },
];

export const policyColumns: readonly Column<PolicyRow>[] = [
  { title: 'POLICY', value: (row) => row.policy },
  { title: 'PHASE', value: (row) => row.phase },
  { title: 'TARGET', value: (row) => row.target },
  { title: 'FROM', value: (row) => [row.namespace, row.name].filter(Boolean).join('/') },
];

export const effectivePolicyColumns: readonly Column<EffectivePolicyRow>[] = [
  { title: 'AT', value: (row) => row.at },
  { title: 'POLICY', value: (row) => row.policy },
  { title: 'FROM', value: (row) => row.from },
];

/** Weights are shown where they make a difference. */
function backendsText(row: RouteRow): string {
  const weights = new Set(row.backends.map((backend) => backend.weight));
  const plain = weights.size < 2 && row.backends.every((backend) => backend.weight !== 0);
  return row.backends.map(({ name, weight }) => (plain ? name : `${name} (${weight})`)).join(', ');
}
