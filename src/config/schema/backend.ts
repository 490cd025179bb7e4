import { z } from 'zod';
import { agentCore } from './agent-core.ts';
import { aiBackend } from './ai-backend.ts';
import { backendName, hostText, serviceRef } from './backend-ref.ts';
import { exactlyOne, object } from './build.ts';
import { checked } from './marks.ts';
import { mcpBackend } from './mcp-backend.ts';
import { backendPolicies, tcpBackendPolicies } from './policy-sets.ts';
import { cel, shortString } from './scalars.ts';

const internal = z
  .string({ error: () => 'expected `forward`, or a path that starts with `/`' })
  .regex(/^(forward|\/.*)$/, { error: 'expected `forward`, or a path that starts with `/`' })
  .describe('The admin router of the gateway itself: `forward` keeps the path, a path replaces it.');

const dynamic = object('The host that the request itself names. It can reach anything: put access control in front.', {
  target: cel.optional().describe('Expression that gives `host:port`; without it the authority of the request.'),
}).nullable();

const aws = exactlyOne(
  object('Services of AWS; exactly one key.', { agentCore: agentCore.optional() }),
  'a service of AWS',
  ['agentCore'],
);

const sharedKinds = {
  host: hostText.optional(),
  internal: internal.optional(),
  mcp: mcpBackend.optional(),
  ai: aiBackend.optional(),
  aws: aws.optional(),
};

const weight = z.int().min(0).max(4294967295).default(1).describe('Share of the requests, next to the other weights.');

/** A backend of an HTTP route. */
export const routeBackend = exactlyOne(
  object(
    'Where requests go; exactly one kind.',
    {
      weight,
      service: serviceRef.optional(),
      backend: backendName.optional(),
      dynamic: dynamic.optional(),
      ...sharedKinds,
      routeGroup: checked(z.string().min(1).max(256), 'routeGroup')
        .optional()
        .describe('Name of an entry of `routeGroups`, whose routes choose further.'),
      invalid: z.null().optional().describe('A backend that cannot be resolved: requests that it draws fail.'),
      policies: backendPolicies.optional(),
    },
    'RouteBackend',
  ),
  'a backend',
  ['service', 'backend', 'host', 'internal', 'dynamic', 'mcp', 'ai', 'aws', 'routeGroup', 'invalid'],
);

/** A backend of a TCP route. */
export const tcpRouteBackend = exactlyOne(
  object(
    'Where connections go; exactly one kind.',
    {
      weight,
      service: serviceRef.optional(),
      host: hostText.optional(),
      dynamic: dynamic.optional(),
      backend: backendName.optional(),
      policies: tcpBackendPolicies.optional(),
    },
    'TcpRouteBackend',
  ),
  'a backend',
  ['service', 'host', 'dynamic', 'backend'],
);

/** An entry of `backends`. */
export const namedBackend = exactlyOne(
  object(
    'A backend that routes name.',
    { name: shortString, ...sharedKinds, policies: backendPolicies.optional() },
    'NamedBackend',
  ),
  'a backend',
  ['host', 'internal', 'mcp', 'ai', 'aws'],
);

export type RouteBackendSpec = z.output<typeof routeBackend>;
export type TcpRouteBackendSpec = z.output<typeof tcpRouteBackend>;
export type NamedBackendSpec = z.output<typeof namedBackend>;
