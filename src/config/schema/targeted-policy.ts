import { z } from 'zod';
import { exactlyOne, object, withRule } from './build.ts';
import { routePolicyShape } from './policy-sets.ts';
import { port, shortString } from './scalars.ts';

const named = { name: shortString, namespace: shortString };
const section = shortString.optional().describe('One part of it.');

const gatewayTarget = withRule(
  object('A gateway, or one of its listeners or ports.', {
    gatewayName: shortString.describe('`default` for every gateway of this file, or the name of one.'),
    gatewayNamespace: shortString,
    listenerName: shortString.optional(),
    port: port.optional(),
  }),
  (value, add) => {
    if (value['listenerName'] !== undefined && value['port'] !== undefined) {
      add('`listenerName` and `port` cannot be used together', { at: 'port', code: 'GW_CONFIG_CONFLICT' });
    }
  },
);

const backendTarget = exactlyOne(
  object('A backend or a service.', {
    backend: object('A named backend.', { ...named, section }).optional(),
    service: object('An entry of `services`.', {
      hostname: shortString,
      namespace: shortString,
      port: port.optional(),
    }).optional(),
  }),
  'a backend target',
  ['backend', 'service'],
);

const target = exactlyOne(
  object('What the policy is attached to; exactly one key.', {
    gateway: gatewayTarget.optional(),
    listenerSet: object('A set of listeners.', { ...named, section }).optional(),
    route: object('A route, or one of its rules.', {
      ...named,
      ruleName: shortString.optional(),
      kind: shortString.optional(),
    }).optional(),
    backend: backendTarget.optional(),
  }),
  'a target',
  ['gateway', 'listenerSet', 'route', 'backend'],
);

/** An entry of `policies`: one policy, attached from outside. */
export const targetedPolicy = object(
  'One policy, attached to something by name.',
  {
    name: object('Name of the policy in dumps and traces.', named),
    target,
    phase: z
      .enum(['route', 'gateway'])
      .default('route')
      .describe('`gateway`: before a route is chosen, for the policies that a gateway may have.'),
    policy: exactlyOne(
      object('The policy; exactly one key.', routePolicyShape, 'TargetedPolicyChoice'),
      '`policy`',
      Object.keys(routePolicyShape),
    ),
  },
  'TargetedPolicy',
);

export type TargetedPolicySpec = z.output<typeof targetedPolicy>;
