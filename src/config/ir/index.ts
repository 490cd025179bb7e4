/**
 * The intermediate representation: one model of configuration, whatever it was read from. Every default is filled,
 * every name resolved, every "exactly one of" a union on `kind`, every duration in milliseconds, every size in bytes.
 * It is plain data (structured-clonable but for `Secret`, see `transfer.ts`), so that a worker thread can receive it.
 */
export type * from './gateway.ts';
export type * from './llm.ts';
export type * from './mcp.ts';
export type * from './model-catalog.ts';
export type * from './route.ts';
export type * from './backend.ts';
export type * from './policy.ts';
export type * from './policy/a2a.ts';
export type * from './policy/api-key.ts';
export type * from './policy/authorization.ts';
export type * from './policy/basic-auth.ts';
export type * from './policy/conditional.ts';
export type * from './policy/delay.ts';
export type * from './policy/direct-response.ts';
export type * from './policy/local-rate-limit.ts';
export type * from './policy/mcp-guardrails.ts';
export type * from './policy/transformations.ts';
export type * from './policy/jwt-auth.ts';
export type * from './policy/mcp-oauth.ts';
export type * from './policy/oidc.ts';
export type * from './document.ts';
export type * from './policy/observability.ts';
export type * from './policy/policy-service.ts';
export type * from './policy/remote-rate-limit.ts';
export type * from './policy/backend-auth.ts';
export type * from './policy/backend-tunnel.ts';
export type * from './policy/cors.ts';
export type * from './policy/credential-location.ts';
export type * from './policy/csrf.ts';
export type * from './policy/ext-authz.ts';
export type * from './policy/ext-proc.ts';
export type * from './process.ts';
export type * from './tls.ts';
