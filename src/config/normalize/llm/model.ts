import type { AiBackend, AiPolicy, LlmModel, LlmRouteType, PromptGuard } from '../../ir/llm.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { LlmModelSpec, LlmSpec } from '../../schema/llm.ts';
import type { Path } from '../../load/problem.ts';
import type { Context } from '../context.ts';
import { headerMatches } from '../match.ts';
import { backendPolicies, guardPlace } from '../policy.ts';
import { orderedRoutes } from '../policy/ai.ts';
import { authorization } from '../policy/authorization.ts';
import { bearerLocation } from '../policy/credential-location.ts';
import { promptGuard } from '../policy/prompt-guard.ts';
import { secretText } from '../secret-text.ts';
import { endpointOf, type Endpoint } from './provider.ts';
import { settingsOf, type Settings } from './settings.ts';

/** What requests are, by the end of their path, where many models are behind one address. */
const ROUTE_TYPES: Readonly<Record<string, LlmRouteType>> = {
  '/v1/chat/completions': 'completions',
  '/v1/messages': 'messages',
  '/v1/messages/count_tokens': 'anthropicTokenCount',
  ':rawPredict': 'messages',
  ':streamRawPredict': 'messages',
  ':generateContent': 'generateContent',
  ':streamGenerateContent': 'generateContent',
  ':countTokens': 'geminiCountTokens',
  '/v1/responses': 'responses',
  '/v1/responses/compact': 'detect',
  '/v1/images/generations': 'detect',
  '/v1/images/edits': 'detect',
  '/v1/images/variations': 'detect',
  '/v1/embeddings': 'embeddings',
  '/v1/rerank': 'rerank',
  '/v2/rerank': 'rerank',
  '/v1/realtime': 'realtime',
  // Clients of Azure, of the addresses that are made like OpenAI's, and of OpenAI whose base has no version.
  '/chat/completions': 'completions',
  '/embeddings': 'embeddings',
  '/openai/responses': 'responses',
  '/openai/responses/compact': 'detect',
  '/images/generations': 'detect',
  '/images/edits': 'detect',
  '/openai/realtime': 'realtime',
};

const OPAQUE = orderedRoutes({ ...ROUTE_TYPES, '*': 'passthrough' });
const DETECT = orderedRoutes({ ...ROUTE_TYPES, '*': 'detect' });

/** What every model of the section has in common. */
export interface Shared {
  readonly section: LlmSpec;
  /** Guards that come before those of the model. */
  readonly guards: PromptGuard | undefined;
}

/** Undefined after a problem. `key` is that of its backend. */
export function llmModel(
  context: Context,
  spec: LlmModelSpec,
  { shared, path, key }: { readonly shared: Shared; readonly path: Path; readonly key: string },
): LlmModel | undefined {
  const settings = settingsOf(context, { model: spec, section: shared.section, path });
  const endpoint = settings && endpointOf(context, settings);
  if (settings === undefined || endpoint === undefined) return undefined;
  const guards = spec.guardrails && promptGuard(context, spec.guardrails, guardsAt(context, { path, key }));
  const { tls: secured, service, model, ...target } = endpoint;
  const backend: AiBackend = {
    kind: 'ai',
    key,
    groups: [
      [
        {
          name: spec.name,
          key: `${key}/${spec.name}`,
          service,
          model,
          ...target,
          tokenize: settings.params.tokenize ?? false,
          policies: {
            ...modelPolicies(context, settings, { key, secured }),
            ai: aiPolicy(spec, settings, { guards: together(shared.guards, guards), section: shared.section }),
          },
        },
      ],
    ],
  };
  return {
    id: spec.id,
    name: spec.name,
    visibility: spec.visibility,
    matches: spec.matches.map(({ headers }) => headerMatches(headers)),
    ...(spec.authorization === undefined ? {} : { authorization: authorization(spec.authorization) }),
    backend,
  };
}

function guardsAt(context: Context, { path, key }: { readonly path: Path; readonly key: string }) {
  return guardPlace(context, { path: [...path, 'guardrails'], key: `${key}/guardrails` });
}

/** Everything about calling the provider; the bodies are the business of `ai`. */
function modelPolicies(
  context: Context,
  settings: Settings,
  { key, secured }: { readonly key: string; readonly secured: Endpoint['tls'] },
): BackendPolicies {
  const { values } = settings;
  const { requestHeaders, responseHeaders, health, auth, backendTunnel } = values;
  const tls = values.tls ?? values.backendTLS;
  const written = {
    ...part(context, settings, {
      key,
      from: values.tls === undefined ? 'backendTLS' : 'tls',
      spec: { backendTLS: tls },
    }),
    ...part(context, settings, { key, from: 'auth', spec: { backendAuth: auth } }),
    ...part(context, settings, { key, from: 'backendTunnel', spec: { backendTunnel } }),
    ...part(context, settings, { key, from: 'requestHeaders', spec: { requestHeaderModifier: requestHeaders } }),
    ...part(context, settings, { key, from: 'responseHeaders', spec: { responseHeaderModifier: responseHeaders } }),
    ...part(context, settings, { key, from: 'health', spec: { health } }),
  };
  return {
    ...(secured ? { backendTLS: { verify: 'full' } } : {}),
    ...apiKeyAuth(context, settings),
    ...written,
  };
}

type PartSpec = NonNullable<Parameters<typeof backendPolicies>[1]>;

/** One policy, whose problems are told where it is written. */
function part(
  context: Context,
  settings: Settings,
  { key, from, spec }: { readonly key: string; readonly from: keyof Settings['values']; readonly spec: PartSpec },
): BackendPolicies {
  const [name] = Object.keys(spec);
  if (name === undefined || Object.values(spec)[0] === undefined) return {};
  const path = settings.pathOf(from);
  const problems = context.problems.length;
  const policies = backendPolicies(context, spec, { path: path.slice(0, -1), key });
  for (const [index, problem] of context.problems.entries())
    if (index >= problems) context.problems[index] = { ...problem, path: renamed(problem.path, path, name) };
  return policies;
}

/** The section has shorter names for some policies. */
function renamed(path: Path, at: Path, name: string): Path {
  const depth = at.length - 1;
  return path[depth] === name ? [...at, ...path.slice(depth + 1)] : path;
}

function apiKeyAuth(context: Context, { params, providerPath, values }: Settings): BackendPolicies {
  if (params.apiKey === undefined || values.auth !== undefined) return {};
  const path = [...providerPath, 'params', 'apiKey'];
  const key = secretText(context, params.apiKey, path);
  if (key === undefined) return {};
  if (key.reveal() === '') {
    context.report(path, 'GW_CONFIG_VALUE', 'the key is empty', { hint: 'leave it out where no key is needed' });
    return {};
  }
  return { backendAuth: { main: { kind: 'key', key, location: bearerLocation }, credentials: [] } };
}

function aiPolicy(
  spec: LlmModelSpec,
  { values }: Settings,
  { guards, section }: { readonly guards: PromptGuard | undefined; readonly section: LlmSpec },
): AiPolicy {
  const { defaults, overrides, transformation: transformations, promptCaching } = values;
  const { finalTransformation: finalTransformations, passthrough } = spec;
  const { onUnsupported } = section;
  return {
    routes: passthrough === 'detect' ? DETECT : OPAQUE,
    ...(defaults === undefined ? {} : { defaults }),
    ...(overrides === undefined ? {} : { overrides }),
    ...(transformations === undefined ? {} : { transformations }),
    ...(finalTransformations === undefined ? {} : { finalTransformations }),
    ...(promptCaching === undefined ? {} : { promptCaching }),
    ...(guards === undefined ? {} : { promptGuard: guards }),
    ...(onUnsupported === undefined ? {} : { onUnsupported }),
  };
}

/** The first ones come first; streams are looked at when either says so. */
function together(first: PromptGuard | undefined, second: PromptGuard | undefined): PromptGuard | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return {
    streaming: first.streaming || second.streaming,
    request: [...first.request, ...second.request],
    response: [...first.response, ...second.response],
  };
}
