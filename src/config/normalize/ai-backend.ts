import type { AiBackend, AiProvider, LlmService } from '../ir/llm.ts';
import type { BackendPolicies } from '../ir/policy.ts';
import type { AiBackendSpec, AiProviderSpec } from '../schema/ai-backend.ts';
import type { Context } from './context.ts';
import { parseHostTarget } from './host-target.ts';
import type { Place } from './simple-backend.ts';

/** Normalizes what stands under `policies` of a member. */
export type MemberPolicies = (spec: AiProviderSpec['policies'], place: Place) => BackendPolicies;

/** Services of language models; `key` is that of the backend. Undefined after a problem. */
export function aiBackend(
  context: Context,
  spec: AiBackendSpec,
  { place, policies }: { readonly place: Place; readonly policies: MemberPolicies },
): AiBackend | undefined {
  const { key, path } = place;
  const groups = groupsOf(spec).map((members, group) =>
    members.map((member, index) => {
      const at = spec.groups === undefined ? path : [...path, 'groups', group, 'providers', index];
      return aiProvider(context, member, { place: { path: at, key: `${key}/${member.name}` }, policies });
    }),
  );
  reportTwins(context, groups.flat(), path);
  return { kind: 'ai', key, groups };
}

function groupsOf(spec: AiBackendSpec): readonly (readonly AiProviderSpec[])[] {
  if (spec.groups !== undefined) return spec.groups.map(({ providers }) => providers);
  const { name, provider, tokenize = false, groups: _groups, ...rest } = spec;
  return name === undefined || provider === undefined ? [] : [[{ ...rest, name, provider, tokenize }]];
}

function aiProvider(
  context: Context,
  spec: AiProviderSpec,
  { place, policies }: { readonly place: Place; readonly policies: MemberPolicies },
): AiProvider {
  const { name, provider, hostOverride, pathOverride, pathPrefix, tokenize } = spec;
  const host = hostOverride === undefined ? undefined : parseHostTarget(hostOverride);
  const { service, model } = llmService(context, provider);
  return {
    name,
    key: place.key,
    service,
    model,
    host: typeof host === 'string' ? undefined : host,
    path: pathOverride,
    pathPrefix: pathPrefix?.replace(/\/+$/, ''),
    tokenize,
    policies: policies(spec.policies, { ...place, path: [...place.path, 'policies'] }),
  };
}

type ProviderSpec = AiProviderSpec['provider'];

/** The schema makes sure that there is exactly one key. */
function llmService(
  context: Context,
  spec: ProviderSpec,
): { readonly service: LlmService; readonly model: string | undefined } {
  const { openAI, anthropic, gemini, vertex, bedrock, azure, copilot, custom } = spec;
  if (anthropic !== undefined) return { service: { kind: 'anthropic' }, model: anthropic.model };
  if (gemini !== undefined) return { service: { kind: 'gemini' }, model: gemini.model };
  if (copilot !== undefined) return { service: { kind: 'copilot' }, model: copilot.model };
  if (vertex !== undefined) {
    const { model, ...settings } = vertex;
    return { service: { kind: 'vertex', ...settings }, model };
  }
  if (azure !== undefined) {
    const { model, ...settings } = azure;
    return { service: { kind: 'azure', ...settings }, model };
  }
  if (bedrock !== undefined) {
    const { model, region, guardrailIdentifier: identifier, guardrailVersion: version } = bedrock;
    const guardrail = identifier === undefined || version === undefined ? undefined : { identifier, version };
    return { service: { kind: 'bedrock', region, guardrail, betas: betas(context) }, model };
  }
  if (custom !== undefined) {
    const { model, formats, providerOverride } = custom;
    return { service: { kind: 'custom', formats, identity: providerOverride ?? 'custom' }, model };
  }
  const { model, moderation } = openAI ?? {};
  const { input, output } = moderation?.policy ?? {};
  return {
    service: {
      kind: 'openai',
      moderation: moderation && { model: moderation.model, input: input?.mode, output: output?.mode },
    },
    model,
  };
}

/** `GW_BEDROCK_ANTHROPIC_BETA_HEADERS`: a list with commas. */
export function betas({ host }: Context): readonly string[] | undefined {
  const listed = host.env['GW_BEDROCK_ANTHROPIC_BETA_HEADERS']?.split(',').map((beta) => beta.trim());
  const named = listed?.filter((beta) => beta !== '') ?? [];
  return named.length === 0 ? undefined : named;
}

function reportTwins(context: Context, members: readonly AiProvider[], path: Place['path']): void {
  const seen = new Set<string>();
  for (const { name } of members) {
    if (seen.has(name))
      context.report(path, 'GW_CONFIG_CONFLICT', `two providers of the backend are called ${JSON.stringify(name)}`);
    seen.add(name);
  }
}
