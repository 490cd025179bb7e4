import type { Dump, DumpEffective, DumpRoute } from '../protocol/decode-config-dump.ts';

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
  const listeners = dump.binds.flatMap((bind) => bind.listeners);
  const routes = [...listeners.flatMap((listener) => listener.routes), ...dump.looseRoutes];
  return [
    ...listeners.flatMap((listener) =>
      listener.policies.map((policy) => inline(policy, 'inline listener', `listener ${listenerName(listener)}`)),
    ),
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

/** A policy that holds at one place, once those of all levels are put together. */
export interface EffectivePolicyRow {
  /** `listener gateway/name`, `route namespace/name`, `backend name`. */
  readonly at: string;
  readonly phase: 'gateway' | 'route' | 'backend';
  readonly policy: string;
  /** The resource that says so; several, when their rules add up. */
  readonly from: string;
  readonly route: string;
  /** Keys of the routes that delegate to it. */
  readonly via: readonly string[];
  readonly settings: unknown;
}

/** What holds at each listener, route and backend, from the client to the backend. */
export function effectivePolicyRows(dump: Dump): readonly EffectivePolicyRow[] {
  const listeners = dump.binds.flatMap((bind) => bind.listeners);
  return [
    ...listeners.flatMap((listener) => [
      ...listener.effective.map((policy) =>
        row(policy, { at: `listener ${listenerName(listener)}`, phase: 'gateway', route: '' }),
      ),
      ...listener.routes.flatMap(rowsOfRoute),
    ]),
    ...dump.looseRoutes.flatMap(rowsOfRoute),
  ];
}

function rowsOfRoute(route: DumpRoute): EffectivePolicyRow[] {
  const rule = route.ruleName === '' ? '' : ` rule ${route.ruleName}`;
  const name = `${[route.namespace, route.name].filter(Boolean).join('/')}${rule}`;
  return [
    ...route.effective.map((policy) => row(policy, { at: `route ${name}`, phase: 'route', route: name })),
    ...route.backends.flatMap((backend) =>
      backend.effective.map((policy) =>
        row(policy, { at: `backend ${backend.name} of route ${name}`, phase: 'backend', route: name }),
      ),
    ),
  ];
}

function row(
  { kind, source, settings, via }: DumpEffective,
  place: Pick<EffectivePolicyRow, 'at' | 'phase' | 'route'>,
): EffectivePolicyRow {
  return { ...place, policy: kind, from: source, via, settings };
}

/** As the gateway calls it where it names a source: the namespace of the gateway and the name of the listener. */
function listenerName({ gateway, name }: { readonly gateway: string; readonly name: string }): string {
  const [namespace = ''] = gateway.split('/');
  return [namespace, name].filter(Boolean).join('/');
}
