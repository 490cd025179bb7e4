import { z } from 'zod';
import { object, withRule } from './build.ts';
import { notBuiltWhen } from './marks.ts';
import { hostname, shortString } from './scalars.ts';
import { portMap } from './service.ts';

const text = z.string().max(256).default('');

/** An entry of `workloads`: one endpoint. */
export const workload = withRule(
  object(
    'One endpoint of services.',
    {
      uid: shortString.optional().describe('Unique name. Default: made of its position.'),
      name: shortString.optional(),
      namespace: shortString,
      workloadIps: z.array(z.union([z.ipv4(), z.ipv6()], { error: () => 'expected an IP address' })).default([]),
      hostname: hostname
        .optional()
        .describe('Dialled when there are no addresses; *.suffix takes the host of the request.'),
      services: z
        .record(z.string().regex(/^[^/\s]+\/[^/\s]+$/, { error: 'expected `namespace/hostname`' }), portMap)
        .default({})
        .describe('By `namespace/hostname` of a service: service port to port of this workload.'),
      network: text,
      node: text,
      clusterId: z.string().max(256).default('Kubernetes'),
      serviceAccount: text,
      trustDomain: text,
      workloadName: text,
      workloadType: text,
      canonicalName: text,
      canonicalRevision: text,
      protocol: notBuiltWhen(
        z.enum(['TCP', 'HBONE', 'LegacyIstioMtls']),
        (value) => value !== 'TCP',
        'a workload protocol other than TCP',
      ).default('TCP'),
      networkMode: z.enum(['Standard', 'HostNetwork']).default('Standard'),
      status: z.enum(['Healthy', 'Unhealthy']).default('Healthy'),
      capacity: z.int().min(0).max(4294967295).default(1).describe('Weight next to other endpoints; 0 is drained.'),
      locality: object('Where it runs.', { region: text, zone: text, subzone: text }).optional(),
    },
    'Workload',
  ),
  (value, add) => {
    const ips = value['workloadIps'];
    if ((ips === undefined || (Array.isArray(ips) && ips.length === 0)) && value['hostname'] === undefined) {
      add('a workload needs `workloadIps` or `hostname`', { code: 'GW_CONFIG_MISSING' });
    }
  },
);

export type WorkloadSpec = z.output<typeof workload>;
