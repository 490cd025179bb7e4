import { z } from 'zod';
import { routeBackend, tcpRouteBackend } from './backend.ts';
import { object } from './build.ts';
import { routeMatch } from './match.ts';
import { routePolicies, tcpRoutePolicies } from './policy-sets.ts';
import { gatewayRefs, hostname, shortString } from './scalars.ts';

const naming = {
  name: shortString
    .optional()
    .describe('Name in logs, metrics and dumps. Default: `route` (or `tcproute`) and its position.'),
  namespace: shortString.optional().describe('Default: default.'),
  ruleName: shortString.optional().describe('Name of one rule of a route.'),
};

const routeShape = {
  ...naming,
  hostnames: z.array(hostname).default([]).describe('Host names, or *.suffix. Empty: any host.'),
  matches: z
    .array(routeMatch)
    .default([{ headers: [], query: [] }])
    .describe('Alternatives. Absent: every path; an empty list never matches.'),
  policies: routePolicies.optional(),
  backends: z.array(routeBackend).default([]).describe('Where requests go; one is drawn by weight.'),
};

/** An HTTP route inside a listener or a route group. */
export const route = object('An HTTP route.', routeShape, 'Route');

/** An HTTP route of the top level, which says where it attaches. */
export const attachedRoute = object(
  'An HTTP route.',
  { gateways: gatewayRefs.optional(), ...routeShape },
  'AttachedRoute',
);

const tcpRouteShape = {
  ...naming,
  hostnames: z.array(hostname).default([]).describe('Compared with the server name of TLS. Empty: any.'),
  policies: tcpRoutePolicies.optional(),
  backends: z.array(tcpRouteBackend).default([]).describe('Where connections go; one is drawn by weight.'),
};

/** A TCP route inside a listener. */
export const tcpRoute = object('A TCP route.', tcpRouteShape, 'TcpRoute');

/** A TCP route of the top level, which says where it attaches. */
export const attachedTcpRoute = object(
  'A TCP route.',
  { gateways: gatewayRefs.optional(), ...tcpRouteShape },
  'AttachedTcpRoute',
);

/** Routes that other routes hand over to. */
export const routeGroup = object(
  'Routes that a route hands over to.',
  { name: shortString, routes: z.array(route) },
  'RouteGroup',
);

export type RouteSpec = z.output<typeof route>;
export type AttachedRouteSpec = z.output<typeof attachedRoute>;
export type TcpRouteSpec = z.output<typeof tcpRoute>;
export type AttachedTcpRouteSpec = z.output<typeof attachedTcpRoute>;
export type RouteGroupSpec = z.output<typeof routeGroup>;
