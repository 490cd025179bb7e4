import type { HostTarget } from '../../ir/backend.ts';
import type { Guard, PromptGuard, RegexRule, Rejection } from '../../ir/llm.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { BackendAuth } from '../../ir/policy/backend-auth.ts';
import type { ServiceRef } from '../../ir/policy/policy-service.ts';
import type { PromptGuardSpec, RequestGuardSpec, ResponseGuardSpec } from '../../schema/policy/prompt-guard.ts';
import type { Context } from '../context.ts';
import { parseHostTarget } from '../host-target.ts';
import { headerMatches } from '../match.ts';
import type { Place } from '../simple-backend.ts';
import { policyService } from './policy-service.ts';

/** Where guards are written, and what normalizes the policies of the connections that they make. */
export interface GuardPlace extends Place {
  readonly connection: (policies: unknown, place: Place) => BackendPolicies;
}

/** Guards that cannot be used are left out, after a problem. */
export function promptGuard(context: Context, spec: PromptGuardSpec, place: GuardPlace): PromptGuard {
  return {
    streaming: spec.streaming === 'Enabled',
    request: spec.request.flatMap((each, index) => {
      const guard = guardOf(context, each, within(place, ['request', index]));
      const scope = each.scope ?? (['systemPrompt', 'messages'] as const);
      return guard === undefined ? [] : [{ guard, rejection: rejection(each.rejection), scope }];
    }),
    response: spec.response.flatMap((each, index) => {
      const guard = guardOf(context, each, within(place, ['response', index]));
      const scope = each.scope ?? (['messages'] as const);
      return guard === undefined ? [] : [{ guard, rejection: rejection(each.rejection), scope }];
    }),
  };
}

function within(place: GuardPlace, path: readonly (string | number)[]): GuardPlace {
  return { ...place, path: [...place.path, ...path], key: `${place.key}/${path.join('')}` };
}

function rejection({ status, body, headers }: RequestGuardSpec['rejection']): Rejection {
  if (headers === undefined) return { status, body };
  const { add, set, remove } = headers;
  return { status, body, headers: { add: Object.entries(add), set: Object.entries(set), remove } };
}

/** The schema makes sure that there is exactly one kind. */
function guardOf(context: Context, spec: RequestGuardSpec | ResponseGuardSpec, place: GuardPlace): Guard | undefined {
  const { regex, webhook, bedrockGuardrails, googleModelArmor, azureContentSafety } = spec;
  const moderation = 'openAIModeration' in spec ? spec.openAIModeration : undefined;
  if (regex !== undefined) return { kind: 'regex', action: regex.action, rules: regex.rules.flatMap(rule) };
  if (webhook !== undefined) return webhookGuard(context, webhook, within(place, ['webhook']));
  if (moderation !== undefined) {
    const at = within(place, ['openAIModeration']);
    const service = cloudService(moderation.policies, { host: 'api.openai.com', auth: undefined }, at);
    return { kind: 'openAIModeration', service, model: moderation.model };
  }
  if (bedrockGuardrails !== undefined) {
    const { region, guardrailIdentifier: identifier, guardrailVersion: version, policies } = bedrockGuardrails;
    const auth = { kind: 'aws', credentials: { kind: 'ambient' }, region, serviceName: 'bedrock' } as const;
    const host = `bedrock-runtime.${region}.amazonaws.com`;
    const service = cloudService(policies, { host, auth: { main: auth, credentials: [] } }, within(place, ['bedrock']));
    return { kind: 'bedrockGuardrails', service, identifier, version };
  }
  if (googleModelArmor !== undefined) {
    const { location, templateId, projectId, policies } = googleModelArmor;
    const auth = { kind: 'gcp', token: { kind: 'accessToken' } } as const;
    const host = `modelarmor.${location}.rep.googleapis.com`;
    const service = cloudService(policies, { host, auth: { main: auth, credentials: [] } }, within(place, ['armor']));
    return { kind: 'googleModelArmor', service, templateId, projectId, location };
  }
  return azureContentSafety && azureGuard(context, azureContentSafety, within(place, ['azureContentSafety']));
}

function rule({ pattern, builtin }: NonNullable<RequestGuardSpec['regex']>['rules'][number]): RegexRule[] {
  if (pattern !== undefined) return [{ kind: 'pattern', pattern }];
  return builtin === undefined ? [] : [{ kind: 'builtin', builtin }];
}

type WebhookSpec = NonNullable<RequestGuardSpec['webhook']>;

function webhookGuard(context: Context, spec: WebhookSpec, place: GuardPlace): Guard | undefined {
  const { target, headers, forwardHeaderMatches, failureMode, action } = spec;
  const at = { path: [...place.path, 'target'], key: place.key };
  const policies = place.connection(target.policies, at);
  const service = policyService(context, { spec: target, policies, credentials: true }, at);
  const forwarded = headerMatches(forwardHeaderMatches);
  return service && { kind: 'webhook', service, headers, forwardHeaderMatches: forwarded, failureMode, action };
}

type AzureSpec = NonNullable<RequestGuardSpec['azureContentSafety']>;

function azureGuard(
  context: Context,
  spec: AzureSpec | NonNullable<ResponseGuardSpec['azureContentSafety']>,
  place: GuardPlace,
): Guard | undefined {
  const name = spec.endpoint.replace(/^https:\/\//, '').replace(/\/+$/, '');
  const target = parseHostTarget(/:\d+$/.test(name) ? name : `${name}:443`);
  if (typeof target === 'string') {
    context.report([...place.path, 'endpoint'], 'GW_CONFIG_VALUE', target);
    return undefined;
  }
  const auth: BackendAuth = { main: { kind: 'azure', source: { kind: 'implicit' } }, credentials: [] };
  const service = reached(target, secured(place.connection(spec.policies, place), auth), place);
  const detectJailbreak = 'detectJailbreak' in spec ? spec.detectJailbreak : undefined;
  return { kind: 'azureContentSafety', service, analyzeText: spec.analyzeText, detectJailbreak };
}

interface CloudHost {
  readonly host: string;
  /** Where none is configured. */
  readonly auth: BackendAuth | undefined;
}

/** A service that is reached over TLS, with the credentials of the environment unless there are others. */
function cloudService(policies: unknown, { host, auth }: CloudHost, place: GuardPlace): ServiceRef {
  const connection = secured(place.connection(policies, place), auth);
  return reached({ kind: 'tcp', host, port: 443 }, connection, place);
}

function secured(policies: BackendPolicies, auth: BackendAuth | undefined): BackendPolicies {
  return {
    ...(auth === undefined ? {} : { backendAuth: auth }),
    backendTLS: { verify: 'full' },
    ...policies,
  };
}

function reached(target: HostTarget, policies: BackendPolicies, { key }: Place): ServiceRef {
  return { target: { kind: 'inline', backend: { kind: 'host', key: `${key}/service`, target } }, policies };
}
