import { z } from 'zod';
import { object } from './build.ts';
import { notBuilt } from './marks.ts';
import { a2a } from './policy/a2a.ts';
import { ai } from './policy/ai.ts';
import { apiKey } from './policy/api-key.ts';
import { authorization } from './policy/authorization.ts';
import { backendAuth } from './policy/backend-auth.ts';
import { backendTls } from './policy/backend-tls.ts';
import { backendTunnel } from './policy/backend-tunnel.ts';
import { basicAuth } from './policy/basic-auth.ts';
import { buffer } from './policy/buffer.ts';
import { cors } from './policy/cors.ts';
import { csrf } from './policy/csrf.ts';
import { delay } from './policy/delay.ts';
import { directResponse } from './policy/direct-response.ts';
import { extAuthz, networkExtAuthz as connectionExtAuthz, plainExtAuthz } from './policy/ext-authz.ts';
import { extProc } from './policy/ext-proc.ts';
import { headerModifier } from './policy/header-modifier.ts';
import { health } from './policy/health.ts';
import { backendHttp } from './policy/http.ts';
import { inferenceRouting } from './policy/inference-routing.ts';
import { jwtAuth } from './policy/jwt-auth.ts';
import { localRateLimit } from './policy/local-rate-limit.ts';
import { mcpAuthentication } from './policy/mcp-authentication.ts';
import { mcpGuardrails } from './policy/mcp-guardrails.ts';
import { oidc } from './policy/oidc.ts';
import { promptGuard } from './policy/prompt-guard.ts';
import { remoteRateLimit } from './policy/remote-rate-limit.ts';
import { requestMirrors } from './policy/request-mirror.ts';
import { requestRedirect } from './policy/request-redirect.ts';
import { retry } from './policy/retry.ts';
import { sessionAffinity } from './policy/session-affinity.ts';
import { backendTcp } from './policy/tcp.ts';
import { timeout } from './policy/timeout.ts';
import { plainTransformations, transformations } from './policy/transformations.ts';
import { urlRewrite } from './policy/url-rewrite.ts';

/** Policies of a connection to a service that a policy calls. Lazy: they may call services themselves. */
export const connection: z.ZodType = z.lazy(() => simpleBackendPolicies).meta({ id: 'ConnectionPolicies' });

const auth = backendAuth(connection);
const tunnel = backendTunnel(connection);
const guardrails = mcpGuardrails(connection);
/** Guards over prompts and answers of language models. */
export const promptGuards = promptGuard(connection);
const aiPolicy = ai(promptGuards);

/** The nine policies that may stand on a gateway or a listener, run before a route is chosen. */
export const gatewayPolicyShape = {
  oidc: oidc.optional(),
  jwtAuth: jwtAuth.optional(),
  authorization: authorization.optional(),
  extAuthz: extAuthz(connection).optional(),
  extProc: extProc(connection).optional(),
  cors: cors.optional(),
  transformations: transformations.optional(),
  basicAuth: basicAuth.optional(),
  apiKey: apiKey.optional(),
};

const gatewayPolicies = object('Policies of a gateway.', gatewayPolicyShape);

/** Everything that may be attached to a route; also the choice of a targeted policy. */
export const routePolicyShape = {
  ...gatewayPolicyShape,
  csrf: csrf.optional(),
  localRateLimit: localRateLimit.optional(),
  remoteRateLimit: remoteRateLimit(connection).optional(),
  timeout: timeout.optional(),
  retry: retry.optional(),
  buffer: buffer.optional(),
  delay: delay.optional(),
  directResponse: directResponse.optional(),
  urlRewrite: urlRewrite.optional(),
  requestMirror: requestMirrors.optional(),
  requestHeaderModifier: headerModifier.optional(),
  responseHeaderModifier: headerModifier.optional(),
  requestRedirect: requestRedirect.optional(),
  mcpAuthorization: authorization
    .optional()
    .describe(
      'Rules about tools, prompts, resources and tasks of MCP servers, by the names that the servers themselves give: without the prefix that clients may see.',
    ),
  mcpAuthentication: mcpAuthentication.optional(),
  mcpGuardrails: guardrails.optional(),
  a2a: a2a.optional(),
  ai: aiPolicy.optional(),
  backendTLS: backendTls.optional(),
  backendTunnel: tunnel.optional(),
  backendAuth: auth.optional(),
};

export const routePolicies = object('Policies of a route.', routePolicyShape, 'RoutePolicies');

const simpleShape = {
  requestHeaderModifier: headerModifier.optional(),
  transformations: plainTransformations.optional(),
  backendTLS: backendTls.optional(),
  backendAuth: auth.optional(),
  http: backendHttp.optional(),
  tcp: backendTcp.optional(),
  backendTunnel: tunnel.optional(),
};

export const simpleBackendPolicies = object(
  'Policies of a connection to a service of a policy.',
  simpleShape,
  'SimpleBackendPolicies',
);

/** Everything that may stand on a backend. */
export const backendPolicyShape = {
  ...simpleShape,
  responseHeaderModifier: headerModifier.optional(),
  requestRedirect: requestRedirect.optional(),
  health: health.optional(),
  extAuthz: plainExtAuthz(connection).optional(),
  authorization: authorization.optional(),
  mcpAuthorization: authorization
    .optional()
    .describe(
      'Rules about tools, prompts, resources and tasks of MCP servers, by the names that the servers themselves give: without the prefix that clients may see.',
    ),
  mcpGuardrails: guardrails.optional(),
  a2a: a2a.optional(),
  inferenceRouting: notBuilt(inferenceRouting, 'the policy `inferenceRouting`'),
  sessionAffinity: sessionAffinity.optional(),
  ai: aiPolicy.optional(),
};

export const backendPolicies = object('Policies of a backend.', backendPolicyShape, 'BackendPolicies');

export const tcpRoutePolicies = object('Policies of a TCP route.', { backendTLS: backendTls.optional() });

export const tcpBackendPolicies = object('Policies of a backend of a TCP route.', {
  backendTLS: backendTls.optional(),
  backendTunnel: tunnel.optional(),
});

/** `extAuthz` of the connection level. */
export const networkExtAuthz = connectionExtAuthz(connection);

export type GatewayPoliciesSpec = z.output<typeof gatewayPolicies>;
export type RoutePoliciesSpec = z.output<typeof routePolicies>;
export type BackendPoliciesSpec = z.output<typeof backendPolicies>;
