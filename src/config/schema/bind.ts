import { z } from 'zod';
import { object, withRule, type AddIssue } from './build.ts';
import { protocolAndTls } from './gateway.ts';
import { notBuiltWhen } from './marks.ts';
import { gatewayPolicyShape } from './policy-sets.ts';
import { route, tcpRoute } from './route.ts';
import { hostname, port, shortString } from './scalars.ts';
import { tlsServer } from './tls.ts';

const bindListener = withRule(
  object(
    'A listener of a bind.',
    {
      name: shortString.optional().describe('Default: `listener` and its position.'),
      namespace: shortString.optional(),
      hostname: hostname.optional().describe('A host name, *.suffix or `*`. Default: every host, after all others.'),
      protocol: notBuiltWhen(
        z.enum(['HTTP', 'HTTPS', 'TLS', 'TCP', 'HBONE']),
        (value) => value === 'HBONE',
        'the protocol HBONE',
      ).default('HTTP'),
      tls: tlsServer.optional(),
      routes: z.array(route).optional().describe('Routes of an HTTP or HTTPS listener.'),
      tcpRoutes: z.array(tcpRoute).optional().describe('Routes of a TCP or TLS listener.'),
      policies: object('Policies that run before a route is chosen.', gatewayPolicyShape).optional(),
    },
    'BindListener',
  ),
  (value, add) => {
    const spoken = value['protocol'] ?? 'HTTP';
    protocolAndTls({ ...value, protocol: spoken }, add);
    if (spoken === 'HTTP' || spoken === 'HTTPS') routesOnly(value, add, ['routes', 'tcpRoutes']);
    if (spoken === 'TCP' || spoken === 'TLS') routesOnly(value, add, ['tcpRoutes', 'routes']);
  },
);

function routesOnly(value: Record<string, unknown>, add: AddIssue, [needed, foreign]: readonly [string, string]): void {
  const spoken = String(value['protocol'] ?? 'HTTP');
  if (value[foreign] !== undefined)
    add(`a listener of protocol ${spoken} takes \`${needed}\`, not \`${foreign}\``, {
      at: foreign,
      code: 'GW_CONFIG_CONFLICT',
    });
  else if (value[needed] === undefined)
    add(`a listener of protocol ${spoken} needs \`${needed}\``, { code: 'GW_CONFIG_MISSING' });
}

/** An entry of `binds`: the older form of a port, with its listeners and their routes in one place. */
export const bind = withRule(
  object(
    'Older form of a port; its listeners hold their routes. Prefer `gateways` and `routes`.',
    {
      port: port.optional().describe('Port that is listened on.'),
      mode: notBuiltWhen(
        z.enum(['standard', 'internal']),
        (value) => value === 'internal',
        'the bind mode `internal`',
      ).default('standard'),
      tunnelProtocol: notBuiltWhen(
        z.enum(['direct', 'hboneWaypoint', 'hboneGateway', 'proxy', 'connect']),
        (value) => value === 'hboneWaypoint' || value === 'hboneGateway' || value === 'connect',
        'a tunnel protocol other than direct and proxy',
      )
        .default('direct')
        .describe('`proxy`: connections start with the PROXY protocol.'),
      listeners: z.array(bindListener).min(1),
    },
    'Bind',
  ),
  (value, add) => {
    if (value['port'] === undefined && value['mode'] !== 'internal')
      add('`port` is required', { code: 'GW_CONFIG_MISSING' });
  },
);

export type BindSpec = z.output<typeof bind>;
export type BindListenerSpec = z.output<typeof bindListener>;
