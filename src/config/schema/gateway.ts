import { z } from 'zod';
import { object, withRule, type AddIssue } from './build.ts';
import { gatewayPolicyShape } from './policy-sets.ts';
import { hostname, port, shortString } from './scalars.ts';
import { tlsServer } from './tls.ts';

const protocol = z
  .enum(['HTTP', 'HTTPS', 'TCP', 'TLS'])
  .describe(
    'Default: HTTP, or HTTPS with `tls`. TLS without `tls` passes the bytes through and routes by server name.',
  );

const gatewayListener = withRule(
  object(
    'A listener of a gateway.',
    {
      name: shortString
        .regex(/^[^/]+$/, { error: 'expected a name without `/`' })
        .optional()
        .describe('Default: `listener` and its position.'),
      hostname: hostname.optional().describe('A host name, or *.suffix. Default: every host.'),
      protocol: protocol.optional(),
      tls: tlsServer.optional(),
      ...gatewayPolicyShape,
    },
    'GatewayListener',
  ),
  protocolAndTls,
);

/** `gateways.<name>`: a port, with one listener written directly or several in `listeners`. */
export const gateway = withRule(
  object(
    'A port and its listeners.',
    {
      port: port.describe('Port that is listened on.'),
      protocol: protocol.optional(),
      tls: tlsServer.optional(),
      listeners: z
        .array(gatewayListener)
        .min(1)
        .optional()
        .describe('Several listeners on one port; next to it only `port` may be given.'),
      ...gatewayPolicyShape,
    },
    'Gateway',
  ),
  (value, add) => {
    protocolAndTls(value, add);
    if (value['listeners'] === undefined) return;
    for (const key of ['protocol', 'tls', ...Object.keys(gatewayPolicyShape)]) {
      if (value[key] !== undefined)
        add(`\`${key}\` cannot stand next to \`listeners\`: move it into them`, {
          at: key,
          code: 'GW_CONFIG_CONFLICT',
        });
    }
  },
);

/** Which protocols need a certificate and which cannot have one. */
export function protocolAndTls(value: Record<string, unknown>, add: AddIssue): void {
  const { tls } = value;
  const spoken = value['protocol'];
  if ((spoken === 'HTTP' || spoken === 'TCP') && tls !== undefined) {
    add(`protocol ${spoken} cannot have \`tls\``, {
      at: 'tls',
      code: 'GW_CONFIG_CONFLICT',
      hint: `use protocol ${spoken === 'HTTP' ? 'HTTPS' : 'TLS'}, or leave \`tls\` out`,
    });
  }
  if (spoken === 'HTTPS' && tls === undefined) {
    add('protocol HTTPS needs `tls` with `cert` and `key`', { at: 'protocol', code: 'GW_CONFIG_MISSING' });
  }
}

export type GatewaySpec = z.output<typeof gateway>;
export type GatewayListenerSpec = z.output<typeof gatewayListener>;
