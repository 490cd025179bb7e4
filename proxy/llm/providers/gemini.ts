import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { bearerOf, moveBearer } from './bearer.ts';
import { askUsage } from './completions-body.ts';
import type { Adapt, Plan, Provider, ProviderRequest, ProviderSettings } from './contract.ts';
import { afterPrefix } from './openai.ts';
import { segment } from './path-text.ts';
import { chatPlan, isChat, isOpaque, native, unsupported, upstreamOf } from './plan.ts';

const BASE = '/v1beta';
const COLLECTIONS = ['models/', 'tunedModels/'];

/** Google's Gemini API: its own one, and the one that is made like OpenAI's. */
export function gemini({ authLocated }: ProviderSettings): Provider {
  return {
    identity: 'gcp.gemini',
    hosts: ['generativelanguage.googleapis.com'],
    hostOf: () => 'generativelanguage.googleapis.com',
    plan: planFor,
    path: (request, plan, prefix = '') => `${prefix}${geminiPath(request, upstreamOf(request, plan))}`,
    passthroughPath: afterPrefix,
    headers(exchange, request, plan) {
      const upstream = upstreamOf(request, plan);
      if (authLocated || !(isNative(upstream) || isOpaque(request.routeType))) return;
      const token = bearerOf(exchange);
      // Keys have a header of their own; tokens stay.
      if (token?.startsWith('AIza') === true) moveBearer(exchange, token, 'x-goog-api-key');
    },
    excludesCache: () => false,
  };
}

function planFor({ routeType }: ProviderRequest): Plan {
  if (isChat(routeType)) {
    return chatPlan(routeType, ['generateContent', 'completions'], {
      generateContent: withoutModel,
      completions: askUsage,
    });
  }
  if (isOpaque(routeType) || routeType === 'embeddings') return native(null);
  if (routeType === 'geminiCountTokens') return native(null, withoutModel);
  return routeType === 'anthropicTokenCount' ? { kind: 'local' } : unsupported;
}

/** The path names the model, and says whether it streams. */
export const withoutModel: Adapt = (body) => {
  if (body['model'] === undefined && body['stream'] === undefined) return body;
  const { model: _model, stream: _stream, ...rest } = body;
  return rest;
};

export function isNative(upstream: UpstreamFormat | RouteType): boolean {
  return upstream === 'generateContent' || upstream === 'geminiCountTokens';
}

function geminiPath(request: ProviderRequest, upstream: UpstreamFormat | RouteType): string {
  if (isNative(upstream)) return geminiModelPath(request, upstream);
  return `${BASE}/openai${upstream === 'embeddings' ? '/embeddings' : '/chat/completions'}`;
}

/** Path of the native API. */
export function geminiModelPath({ model, streaming }: ProviderRequest, upstream: UpstreamFormat | RouteType): string {
  const collection = COLLECTIONS.find((each) => model.startsWith(each)) ?? '';
  const id = segment(model.slice(collection.length));
  return `${BASE}/${collection === '' ? 'models/' : collection}${id}${geminiAction(upstream, streaming)}`;
}

export function geminiAction(upstream: UpstreamFormat | RouteType, streaming: boolean): string {
  if (upstream === 'geminiCountTokens') return ':countTokens';
  return streaming ? ':streamGenerateContent?alt=sse' : ':generateContent';
}
