import { z } from 'zod';
import { checked } from './marks.ts';

/** An address of a local server; read by `normalize/address.ts`. */
export const address = checked(
  z
    .string({ error: () => 'expected `ip:port`, `localhost:port`, `unix:/path` or `off`' })
    .min(1)
    .max(256)
    .meta({
      id: 'Address',
      description: '`ip:port`, `[ipv6]:port`, `localhost:port` (both loopbacks), `unix:/path` or `off`.',
    }),
  'address',
);
