import { assertNever } from '../../../src/shared/assert-never.ts';
import type { LlmService } from '../../../src/config/ir/index.ts';
import { ANTHROPIC_VERSION, anthropicPlan, anthropicSuffix } from './anthropic.ts';
import { bearerOf, moveBearer } from './bearer.ts';
import { openaiCompletions } from './completions-body.ts';
import type { RouteType } from '../route-type.ts';
import type { Provider, ProviderRequest, ProviderSettings } from './contract.ts';
import { afterPrefix, openaiPlan, openaiSuffix } from './openai.ts';
import { segment } from './path-text.ts';
import { upstreamFormat, upstreamOf } from './plan.ts';

type Azure = LlmService & { readonly kind: 'azure' };

/** Azure: OpenAI's models by deployments or by their names, and in Foundry also Claude. */
export function azure(service: Azure, { model: configured, authLocated }: ProviderSettings): Provider {
  const host = hostFor(service);
  const speaksClaude = ({ routeType, model }: ProviderRequest): boolean =>
    service.resourceType === 'foundry' && isClaude(model) && !ofOpenai.has(routeType);
  return {
    identity: 'azure',
    hosts: [host],
    hostOf: () => host,
    plan: (request) =>
      speaksClaude(request) ? anthropicPlan(request) : openaiPlan(request, { completions: openaiCompletions }),
    path(request, plan, prefix = '') {
      const upstream = upstreamOf(request, plan);
      if (speaksClaude(request)) return `${prefix}/anthropic/v1${anthropicSuffix(upstream)}`;
      return `${prefix}${openaiPath(service, openaiSuffix(upstream), configured ?? request.model)}`;
    },
    passthroughPath: afterPrefix,
    headers(exchange, request, plan) {
      const token = bearerOf(exchange);
      // Entra's tokens are bearers, keys of a resource have a header of their own.
      if (!authLocated && token !== undefined && !isJwt(token)) moveBearer(exchange, token, 'api-key');
      const upstream = upstreamOf(request, plan);
      if (speaksClaude(request) && (upstream === 'messages' || upstream === 'anthropicTokenCount'))
        exchange.request.headers.set('anthropic-version', ANTHROPIC_VERSION);
    },
    defaultAuth: { main: { kind: 'azure', source: { kind: 'implicit' } }, credentials: [] },
    excludesCache: (_model, plan) => upstreamFormat(plan) === 'messages',
  };
}

/** Anthropic has none of them: Foundry has them at its other address, whatever a deployment is called. */
const ofOpenai: ReadonlySet<RouteType> = new Set<RouteType>(['embeddings', 'rerank']);

function isClaude(model: string): boolean {
  return model.toLowerCase().startsWith('claude');
}

function isJwt(token: string): boolean {
  return token.startsWith('eyJ') && token.split('.').length === 3;
}

function hostFor({ resourceName, resourceType }: Azure): string {
  switch (resourceType) {
    case 'openAI':
      return `${resourceName}.openai.azure.com`;
    case 'foundry':
      return `${resourceName}.services.ai.azure.com`;
    case 'aiServices':
      return `${resourceName}.cognitiveservices.azure.com`;
    default:
      return assertNever(resourceType);
  }
}

function openaiPath(
  { resourceName, resourceType, projectName, apiVersion }: Azure,
  suffix: string,
  model: string,
): string {
  if (resourceType === 'foundry') return `/api/projects/${segment(projectName ?? resourceName)}/openai/v1${suffix}`;
  if (apiVersion === undefined || apiVersion === 'v1') return `/openai/v1${suffix}`;
  const version = `api-version=${encodeURIComponent(apiVersion)}`;
  if (apiVersion === 'preview') return `/openai/v1${suffix}?${version}`;
  if (suffix === '/responses' || suffix === '/realtime') return `/openai${suffix}?${version}`;
  return `/openai/deployments/${segment(model)}${suffix}?${version}`;
}
