import { z } from 'zod';
import { object } from '../build.ts';
import { positiveDuration } from '../scalars.ts';

/** TCP keep-alive probes; shared by `config.backend`, `frontendPolicies.tcp` and the `tcp` policy of a backend. */
export const keepalives = object(
  'TCP keep-alive probes.',
  {
    enabled: z.boolean().default(true),
    time: positiveDuration.prefault('3m').describe('Quiet time before the first probe. Default: 3m.'),
    interval: positiveDuration.prefault('3m').describe('Time between probes. Default: 3m.'),
    retries: z.int().min(1).max(64).default(9).describe('Probes without an answer before the connection is given up.'),
  },
  'Keepalives',
);

/** `tcp` of a backend: connect timeout and keep-alive. */
export const backendTcp = object(
  'How connections to the backend are made and kept.',
  {
    keepalives: keepalives.optional(),
    connectTimeout: positiveDuration
      .optional()
      .describe('Time to establish a connection. Default: `config.backend.connectTimeout`.'),
  },
  'BackendTcp',
);

export type BackendTcpSpec = z.output<typeof backendTcp>;
export type KeepalivesSpec = z.output<typeof keepalives>;
