import { z } from 'zod';
import { object } from './build.ts';
import { checked } from './marks.ts';
import { port } from './scalars.ts';

/** `namespace/hostname` of an entry of `services`. */
export const SERVICE_NAME = z.string().regex(/^[^/\s]+\/[^/\s]+$/, { error: 'expected `namespace/hostname`' });

/** `namespace/hostname` of an entry of `services`, and one of its ports. */
export const serviceRef = checked(
  object(
    'A service of the `services` list.',
    {
      name: SERVICE_NAME.describe('`namespace/hostname` of the service.'),
      port: port.describe('Port of the service.'),
    },
    'ServiceRef',
  ),
  'service',
);

export const hostText = checked(
  z
    .string({ error: () => 'expected `host:port` or `unix:/path`' })
    .min(1)
    .max(1024)
    .describe('`host:port`, `[ipv6]:port` or `unix:/path`.'),
  'host',
);

export const serviceHostText = checked(
  z
    .string({ error: () => 'expected `host:port`, `unix:/path` or `https://host`' })
    .min(1)
    .max(1024)
    .describe(
      '`host:port`, `[ipv6]:port`, `unix:/path`, or `http(s)://host` with an optional port; `https` means TLS.',
    ),
  'serviceHost',
);

export const backendName = checked(
  z.string().min(1).max(256).describe('Name of an entry of `backends`; `name` and `/name` are the same.'),
  'backend',
);

/** Keys of a place that takes only simple backends; exactly one of them. */
export const simpleRefShape = {
  service: serviceRef.optional(),
  host: hostText.optional(),
  backend: backendName.optional(),
};

export const SIMPLE_REF_KEYS = ['service', 'host', 'backend'];
