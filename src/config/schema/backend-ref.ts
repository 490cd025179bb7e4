import { z } from 'zod';
import { object } from './build.ts';
import { port } from './scalars.ts';

/** `namespace/hostname` of an entry of `services`, and one of its ports. */
export const serviceRef = object(
  'A service of the `services` list.',
  {
    name: z
      .string()
      .regex(/^[^/\s]+\/[^/\s]+$/, { error: 'expected `namespace/hostname`' })
      .describe('`namespace/hostname` of the service.'),
    port: port.describe('Port of the service.'),
  },
  'ServiceRef',
);

export const hostText = z
  .string({ error: () => 'expected `host:port` or `unix:/path`' })
  .min(1)
  .max(1024)
  .describe('`host:port`, `[ipv6]:port` or `unix:/path`.');

export const backendName = z
  .string()
  .min(1)
  .max(256)
  .describe('Name of an entry of `backends`; `name` and `/name` are the same.');

/** Keys of a place that takes only simple backends; exactly one of them. */
export const simpleRefShape = {
  service: serviceRef.optional(),
  host: hostText.optional(),
  backend: backendName.optional(),
};

export const SIMPLE_REF_KEYS = ['service', 'host', 'backend'];
