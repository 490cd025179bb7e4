import type { BackendPolicies, GatewayPolicies, HandedOn, RoutePolicies } from '../../src/config/ir/index.ts';

/**
 * Which of several definitions holds: the most specific one, (set-if-unset) the least specific, or all of them together
 * (rules); or the most specific one for each of its fields.
 */
export type Merge = 'mostSpecific' | 'leastSpecific' | 'rules' | 'fields';

/** Every policy of the gateway phase, which is a policy of the route phase too. */
export const gatewayPolicies = {
  cors: 'mostSpecific',
  basicAuth: 'mostSpecific',
  apiKey: 'mostSpecific',
  oidc: 'mostSpecific',
  jwtAuth: 'mostSpecific',
  extAuthz: 'mostSpecific',
  authorization: 'rules',
  extProc: 'mostSpecific',
  transformations: 'mostSpecific',
} as const satisfies Record<keyof GatewayPolicies, Merge>;

/** Every policy of the route phase, and how its definitions merge. One line per policy. */
export const routePolicies = {
  ...gatewayPolicies,
  mcpAuthentication: 'mostSpecific',
  csrf: 'mostSpecific',
  localRateLimit: 'mostSpecific',
  remoteRateLimit: 'mostSpecific',
  timeout: 'mostSpecific',
  retry: 'mostSpecific',
  buffer: 'leastSpecific',
  delay: 'mostSpecific',
  directResponse: 'mostSpecific',
  urlRewrite: 'mostSpecific',
  requestRedirect: 'mostSpecific',
  requestHeaderModifier: 'mostSpecific',
  responseHeaderModifier: 'mostSpecific',
  requestMirror: 'mostSpecific',
} as const satisfies Record<Exclude<keyof RoutePolicies, keyof HandedOn>, Merge>;

/** Every policy about a backend; those that routes hand on are among these. */
export const backendPolicies = {
  requestHeaderModifier: 'mostSpecific',
  responseHeaderModifier: 'mostSpecific',
  requestRedirect: 'mostSpecific',
  requestMirror: 'mostSpecific',
  backendTLS: 'mostSpecific',
  http: 'mostSpecific',
  tcp: 'mostSpecific',
  backendTunnel: 'mostSpecific',
  backendAuth: 'mostSpecific',
  health: 'mostSpecific',
  sessionAffinity: 'mostSpecific',
  extAuthz: 'mostSpecific',
  authorization: 'rules',
  transformations: 'mostSpecific',
  ai: 'fields',
  mcpAuthorization: 'rules',
  mcpGuardrails: 'mostSpecific',
  a2a: 'mostSpecific',
} as const satisfies Record<keyof BackendPolicies, Merge>;
