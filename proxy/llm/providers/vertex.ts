import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { isJsonObject } from '../../exchange/attributes.ts';
import { askUsage } from './completions-body.ts';
import type { Adapt, Plan, Provider, ProviderRequest } from './contract.ts';
import { geminiAction, isNative, withoutModel } from './gemini.ts';
import { afterPrefix } from './openai.ts';
import { segment, without } from './path-text.ts';
import { chatPlan, isChat, isOpaque, native, reshapedFor, unsupported, upstreamOf } from './plan.ts';

const RERANK_HOST = 'discoveryengine.googleapis.com';

/** Google's Vertex AI, which serves Gemini, Claude and others, each in its own way. */
export function vertex({
  projectId,
  region = 'global',
}: {
  readonly projectId: string;
  readonly region?: string | undefined;
}): Provider {
  const host = hostIn(region);
  const base = `/v1/projects/${segment(projectId)}/locations/${segment(region)}`;
  return {
    identity: 'gcp.vertex_ai',
    hosts: [host, RERANK_HOST],
    hostOf: ({ routeType }) => (routeType === 'rerank' ? RERANK_HOST : host),
    plan: planFor,
    path: (request, plan, prefix = '') => `${prefix}${base}${pathOf(request, plan)}`,
    passthroughPath: afterPrefix,
    headers() {},
    defaultAuth: { main: { kind: 'gcp', token: { kind: 'accessToken' } }, credentials: [] },
    excludesCache: (model) => anthropicModel(model) !== undefined,
  };
}

function hostIn(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com';
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}

function planFor({ routeType, model }: ProviderRequest): Plan {
  const claude = anthropicModel(model) !== undefined;
  if (isChat(routeType)) {
    if (claude) return chatPlan(routeType, ['messages'], { messages: vertexMessages });
    const gemini = geminiModel(model) !== undefined;
    return chatPlan(routeType, gemini ? ['generateContent', 'completions'] : ['completions'], {
      generateContent: withoutModel,
      completions: gemini ? geminiCompletions : askUsage,
    });
  }
  if (isOpaque(routeType)) return native(null);
  switch (routeType) {
    case 'embeddings':
    case 'rerank':
      return reshapedFor('vertex', routeType);
    case 'anthropicTokenCount':
      return claude ? native(null, vertexTokenCount) : { kind: 'local' };
    case 'geminiCountTokens':
      return geminiModel(model) === undefined ? unsupported : native(null, withoutModel);
    default:
      return unsupported;
  }
}

function pathOf(request: ProviderRequest, plan: Plan): string {
  const { model, streaming } = request;
  const upstream = upstreamOf(request, plan);
  if (isNative(upstream)) return `${googlePath(model)}${geminiAction(upstream, streaming)}`;
  switch (upstream) {
    case 'messages':
      return `/publishers/anthropic/models/${segment(anthropicModel(model) ?? model)}:${streaming ? 'streamRawPredict' : 'rawPredict'}`;
    case 'anthropicTokenCount':
      return '/publishers/anthropic/models/count-tokens:rawPredict';
    case 'embeddings':
      return `${googlePath(model)}:predict`;
    case 'rerank':
      return '/rankingConfigs/default_ranking_config:rank';
    default:
      return '/endpoints/openapi/chat/completions';
  }
}

function googlePath(model: string): string {
  return `/publishers/google/models/${segment(googleName(model))}`;
}

// ── names of models ──

const ANTHROPIC_PREFIXES = ['publishers/anthropic/models/', 'anthropic/'];
const EMBEDDINGS =
  /^(?:text-embedding-|gemini-embedding-|text-multilingual-embedding-|textembedding-|multimodalembedding)/;

/** Claude's models as Vertex spells them (`claude-sonnet-4@20250514`); undefined for others. */
export function anthropicModel(model: string): string | undefined {
  const bare = without(model, ...ANTHROPIC_PREFIXES);
  if (bare === model && !model.startsWith('claude-')) return undefined;
  return bare.replace(/-(\d{8})$/, '@$1');
}

/** Models that answer in Gemini's own way; undefined for others. */
export function geminiModel(model: string): string | undefined {
  const name = googleName(model);
  if (name.includes('/') || EMBEDDINGS.test(name)) return undefined;
  return /^gemini[-@]/.test(name) ? name : undefined;
}

function googleName(model: string): string {
  const at = model.lastIndexOf('publishers/google/models/');
  return at === -1 ? without(model, 'models/', 'google/') : model.slice(at + 'publishers/google/models/'.length);
}

// ── bodies ──

const VERSION = 'vertex-2023-10-16';

/** The path names the model, and the version stands in the body. */
const vertexMessages: Adapt = (body) => {
  const { model: _model, output_format: _format, ...rest } = body;
  return { ...unscoped(rest), anthropic_version: VERSION };
};

const vertexTokenCount: Adapt = (body, { model }) => {
  const { output_format: _format, ...rest } = body;
  return { ...unscoped(rest), anthropic_version: VERSION, model: anthropicModel(model) ?? model };
};

/** The endpoint that is made like OpenAI's wants to know whose model it is. */
const geminiCompletions: Adapt = (body, request) => ({
  ...askUsage(body, request),
  model: `google/${geminiModel(request.model) ?? request.model}`,
});

/** Without `cache_control.scope`, at any depth. */
function unscoped(body: JsonObject): JsonObject {
  const plain: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === 'cache_control' && isJsonObject(value)) {
      const { scope: _scope, ...rest } = value;
      plain[name] = rest;
    } else plain[name] = unscopedValue(value);
  }
  return plain;
}

function unscopedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(unscopedValue);
  return isJsonObject(value) ? unscoped(value) : value;
}
