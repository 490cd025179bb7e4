import { z } from 'zod';
import { object } from './build.ts';
import { notBuilt, notBuiltWhen } from './marks.ts';
import { hostname, port, shortString } from './scalars.ts';

const portText = z
  .string()
  .regex(/^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$/, {
    error: 'expected a port number from 1 to 65535',
  });

/** Service port to port of the workload. */
export const portMap = z.record(portText, port);

const words = ['Region', 'Zone', 'Subzone', 'Node', 'Cluster', 'Network'] as const;

/** An entry of `services`. */
export const service = object(
  'A service: a name, ports, and the workloads that list it.',
  {
    name: shortString,
    namespace: shortString,
    hostname,
    vips: z
      .array(
        z.string().regex(/^[^/]*\/[0-9A-Fa-f.:]+$/, { error: 'expected `network/ip`, where the network may be empty' }),
      )
      .default([])
      .describe('Virtual addresses as `network/ip`.'),
    ports: portMap.describe('Service port to port of the workload.'),
    appProtocols: z.record(portText, z.enum(['Http11', 'Http2', 'Grpc', 'Tls', 'Tcp'])).default({}),
    subjectAltNames: z.array(shortString).default([]),
    loadBalancer: object('How near endpoints are preferred.', {
      routingPreferences: z.array(z.enum(words)),
      mode: notBuiltWhen(
        z.enum(['Standard', 'Strict', 'Failover', 'Passthrough']),
        (mode) => mode === 'Passthrough',
        'the load balancing mode Passthrough',
      ),
      healthPolicy: z.enum(['OnlyHealthy', 'AllowAll']),
    }).optional(),
    ipFamilies: z.enum(['Dual', 'IPv4', 'IPv6']).optional(),
    waypoint: notBuilt(z.record(z.string(), z.unknown()), '`services[].waypoint`'),
    weightedWaypoints: notBuilt(z.array(z.unknown()), '`services[].weightedWaypoints`'),
    ingressUseWaypoint: notBuilt(z.boolean(), '`services[].ingressUseWaypoint`'),
  },
  'Service',
);

export type ServiceSpec = z.output<typeof service>;
