import type { Moderation } from '../../../src/config/ir/index.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { UpstreamFormat } from '../formats.ts';
import { compact } from '../json.ts';
import type { RouteType } from '../route-type.ts';
import { openaiCompletions } from './completions-body.ts';
import type { Adapt, Plan, Provider, ProviderRequest } from './contract.ts';
import { chatPlan, isChat, isOpaque, native, unsupported, upstreamOf } from './plan.ts';

const BASE = '/v1';

/** OpenAI. */
export function openai({ moderation }: { readonly moderation?: Moderation | undefined }): Provider {
  const moderated: Adapt | undefined = moderation && ((body) => ({ ...body, moderation: moderationField(moderation) }));
  const adapt = {
    completions: moderated === undefined ? openaiCompletions : both(openaiCompletions, moderated),
    ...(moderated === undefined ? {} : { responses: moderated }),
  };
  return {
    identity: 'openai',
    hosts: ['api.openai.com'],
    hostOf: () => 'api.openai.com',
    plan: (request) => openaiPlan(request, adapt),
    path: (request, plan, prefix) => `${prefix ?? BASE}${openaiSuffix(upstreamOf(request, plan))}`,
    passthroughPath: underPrefix,
    headers() {},
    excludesCache: () => false,
  };
}

/** What services that are made like OpenAI can do. */
export function openaiPlan(
  { routeType }: ProviderRequest,
  adapt: Partial<Readonly<Record<UpstreamFormat, Adapt>>>,
): Plan {
  if (isChat(routeType)) return chatPlan(routeType, ['responses', 'completions'], adapt);
  if (isOpaque(routeType)) return native(null);
  switch (routeType) {
    case 'embeddings':
    case 'rerank':
    case 'realtime':
      return native(null);
    case 'anthropicTokenCount':
      return { kind: 'local' };
    default:
      return unsupported;
  }
}

function both(first: Adapt, second: Adapt): Adapt {
  return (body, request) => second(first(body, request), request);
}

function moderationField({ model, input, output }: Moderation): JsonObject {
  const policy = compact({ input: input && { mode: input }, output: output && { mode: output } });
  return compact({ model, policy: Object.keys(policy).length === 0 ? undefined : policy });
}

/** What follows the base path; everything that has no path of its own goes to chat completions. */
export function openaiSuffix(type: UpstreamFormat | RouteType): string {
  switch (type) {
    case 'responses':
      return '/responses';
    case 'embeddings':
      return '/embeddings';
    case 'rerank':
      return '/rerank';
    case 'realtime':
      return '/realtime';
    default:
      return '/chat/completions';
  }
}

/** A configured prefix takes the place of `/v1`, or goes before paths that have none. */
export function underPrefix(clientPath: string, prefix: string): string {
  const own = clientPath === BASE || clientPath.startsWith(`${BASE}/`) ? clientPath.slice(BASE.length) : clientPath;
  return `${prefix}${own}`;
}

/** A configured prefix goes before the client's path. */
export function afterPrefix(clientPath: string, prefix: string): string {
  return `${prefix}${clientPath}`;
}
