import type { Service, Workload } from '../ir/backend.ts';
import type { ServiceSpec } from '../schema/service.ts';
import type { WorkloadSpec } from '../schema/workload.ts';
import type { Context } from './context.ts';
import { dangling } from '../load/check-value.ts';

/** The entries of `services`. */
export function services(context: Context, specs: readonly (ServiceSpec | undefined)[]): Service[] {
  const seen = new Map<string, number>();
  return specs.flatMap((spec, index) => {
    if (spec === undefined) return [];
    const name = `${spec.namespace}/${spec.hostname}`;
    const earlier = seen.get(name);
    if (earlier !== undefined)
      context.report(['services', index, 'hostname'], 'GW_CONFIG_CONFLICT', `services[${earlier}] is ${name} already`);
    else seen.set(name, index);
    for (const port of Object.keys(spec.appProtocols)) {
      if (!Object.hasOwn(spec.ports, port))
        context.report(
          ['services', index, 'appProtocols', port],
          'GW_CONFIG_REFERENCE',
          `\`ports\` has no port ${port}`,
          { atKey: true },
        );
    }
    const { waypoint: _waypoint, weightedWaypoints: _weighted, ingressUseWaypoint: _ingress, ...service } = spec;
    return [service];
  });
}

/** The entries of `workloads`. */
export function workloads(context: Context, specs: readonly (WorkloadSpec | undefined)[]): Workload[] {
  const seen = new Map<string, number>();
  return specs.flatMap((spec, index) => {
    if (spec === undefined) return [];
    const uid = spec.uid ?? `workload${index}`;
    const earlier = seen.get(uid);
    if (earlier !== undefined)
      context.report(
        ['workloads', index, 'uid'],
        'GW_CONFIG_CONFLICT',
        `workloads[${earlier}] has the uid ${JSON.stringify(uid)} already`,
      );
    else seen.set(uid, index);
    return [
      {
        ...spec,
        uid,
        name: spec.name ?? uid,
        protocol: 'TCP' as const,
        locality: spec.locality ?? { region: '', zone: '', subzone: '' },
        services: workloadServices(context, spec, index),
      },
    ];
  });
}

function workloadServices(context: Context, spec: WorkloadSpec, index: number): Workload['services'] {
  const known = context.names.services;
  const entries = Object.entries(spec.services).map(([written, ports]) => {
    const slash = written.indexOf('/');
    const name = `${written.slice(0, slash)}/${written.slice(slash + 1).toLowerCase()}`;
    const path = ['workloads', index, 'services', written];
    context.problems.push(
      ...dangling({ what: 'service', name, known: new Set(known.keys()), section: 'services' }, path),
    );
    for (const port of Object.keys(ports)) {
      if (known.get(name)?.has(port) === false)
        context.report([...path, port], 'GW_CONFIG_REFERENCE', `the service ${name} has no port ${port}`, {
          atKey: true,
        });
    }
    return [name, ports] as const;
  });
  return Object.fromEntries(entries);
}
