import type { Dump } from '../protocol/decode-config-dump.ts';

/** One policy object, or the policies written at a route, and what it attaches to. */
export interface PolicyRow {
  readonly policy: string;
  readonly phase: string;
  readonly target: string;
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}

/** Attached policies first, then those written inline, one row for each kind of policy. */
export function policyRows(dump: Dump): readonly PolicyRow[] {
  const attached = dump.policies.flatMap((entry) =>
    (entry.policies.length === 0 ? [''] : entry.policies).map((policy) => ({
      policy,
      phase: entry.phase,
      target: entry.target,
      name: entry.name,
      namespace: entry.namespace,
      key: entry.key,
    })),
  );
  return [...attached, ...inlineRows(dump)];
}

function inlineRows(dump: Dump): PolicyRow[] {
  const routes = [
    ...dump.binds.flatMap((bind) => bind.listeners.flatMap((listener) => listener.routes)),
    ...dump.looseRoutes,
  ];
  return [
    ...routes.flatMap((route) => route.policies.map((policy) => inline(policy, 'inline route', `route ${route.key}`))),
    ...routes.flatMap((route) =>
      route.backends.flatMap((backend) =>
        backend.policies.map((policy) =>
          inline(policy, 'inline backend', `backend ${backend.name} of route ${route.key}`),
        ),
      ),
    ),
    ...dump.backends.flatMap((backend) =>
      backend.policies.map((policy) => inline(policy, 'backend', `backend ${backend.name}`)),
    ),
  ];
}

function inline(policy: string, phase: string, target: string): PolicyRow {
  return { policy, phase, target, name: '', namespace: '', key: '' };
}
