import type { Plan, Provider, ProviderRequest } from './contract.ts';
import { chatPlan, isChat, isOpaque, native, unsupported } from './plan.ts';

const BASE = '/v1';

/** OpenAI, and the paths of everything that is made like it. */
export function openai(): Provider {
  return {
    identity: 'openai',
    hosts: ['api.openai.com'],
    hostOf: () => 'api.openai.com',
    plan,
    path: ({ routeType }, _plan, prefix) => `${prefix ?? BASE}${openaiSuffix(routeType)}`,
    passthroughPath: underPrefix,
    headers() {},
    excludesCache: () => false,
  };
}

function plan({ routeType }: ProviderRequest): Plan {
  if (isChat(routeType)) return chatPlan(routeType, ['responses', 'completions']);
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

/** What follows the base path; everything that has no path of its own goes to chat completions. */
export function openaiSuffix(routeType: ProviderRequest['routeType']): string {
  switch (routeType) {
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
