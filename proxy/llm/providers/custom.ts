import type { CustomFormat, LlmService } from '../../../src/config/ir/index.ts';
import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { ANTHROPIC_VERSION, anthropicSuffix } from './anthropic.ts';
import { askUsage } from './completions-body.ts';
import type { Plan, Provider, ProviderRequest } from './contract.ts';
import { geminiModelPath, isNative, withoutModel } from './gemini.ts';
import { afterPrefix, openaiSuffix } from './openai.ts';
import { chatPlan, isChat, isOpaque, native, unsupported, upstreamFormat, upstreamOf } from './plan.ts';

const BASE = '/v1';

/** Any service that speaks some of the formats; where it is stands in the configuration. */
export function custom({ identity, formats }: LlmService & { readonly kind: 'custom' }): Provider {
  const paths = new Map(formats.map(({ type, path }) => [type, path]));
  const spoken = formats.map(({ type }) => type).filter(isChat);
  return {
    identity,
    hosts: [],
    hostOf: () => undefined,
    plan: (request) => planFor(request, { spoken, types: new Set(paths.keys()) }),
    path(request, plan, prefix) {
      const upstream = upstreamOf(request, plan);
      return declared(paths, upstream) ?? usualPath(request, { upstream, prefix });
    },
    passthroughPath: afterPrefix,
    headers({ request }, facts, plan) {
      const upstream = upstreamOf(facts, plan);
      const { headers } = request;
      if ((upstream === 'messages' || upstream === 'anthropicTokenCount') && !headers.has('anthropic-version'))
        headers.set('anthropic-version', ANTHROPIC_VERSION);
    },
    excludesCache: (_model, plan) => upstreamFormat(plan) === 'messages',
  };
}

interface Declared {
  readonly spoken: readonly UpstreamFormat[];
  readonly types: ReadonlySet<RouteType>;
}

function planFor({ routeType }: ProviderRequest, { spoken, types }: Declared): Plan {
  if (isChat(routeType)) return chatPlan(routeType, spoken, { completions: askUsage, generateContent: withoutModel });
  if (isOpaque(routeType)) return native(null);
  if (routeType === 'geminiCountTokens') return types.has(routeType) ? native(null, withoutModel) : unsupported;
  if (types.has(routeType)) return native(null);
  return routeType === 'anthropicTokenCount' ? { kind: 'local' } : unsupported;
}

function declared(
  paths: ReadonlyMap<CustomFormat['type'], string | undefined>,
  upstream: UpstreamFormat | RouteType,
): string | undefined {
  return [...paths].find(([type]) => type === upstream)?.[1];
}

function usualPath(
  request: ProviderRequest,
  { upstream, prefix }: { readonly upstream: UpstreamFormat | RouteType; readonly prefix: string | undefined },
): string {
  if (isNative(upstream)) return `${prefix ?? ''}${geminiModelPath(request, upstream)}`;
  const anthropic = upstream === 'messages' || upstream === 'anthropicTokenCount';
  return `${prefix ?? BASE}${anthropic ? anthropicSuffix(upstream) : openaiSuffix(upstream)}`;
}
