import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { askUsage, openaiCompletions } from './completions-body.ts';
import type { Plan, Provider, ProviderRequest } from './contract.ts';
import { openaiPlan, openaiSuffix, underPrefix } from './openai.ts';
import { chatPlan, isChat, upstreamOf } from './plan.ts';

/** GitHub Copilot, which serves the models of several vendors in their own formats. */
export function copilot(): Provider {
  return {
    identity: 'copilot',
    hosts: ['api.githubcopilot.com'],
    hostOf: () => 'api.githubcopilot.com',
    plan: planFor,
    path: (request, plan, prefix = '') => `${prefix}${suffix(upstreamOf(request, plan))}`,
    passthroughPath: underPrefix,
    headers() {},
    defaultAuth: { main: { kind: 'copilot' }, credentials: [] },
    excludesCache: (model) => model.toLowerCase().startsWith('claude-'),
  };
}

function planFor(request: ProviderRequest): Plan {
  const { routeType, model } = request;
  if (!isChat(routeType)) return openaiPlan(request, {});
  const name = model.toLowerCase();
  return chatPlan(routeType, formatsOf(name), { completions: name.startsWith('gpt-') ? openaiCompletions : askUsage });
}

/** By the name of the model, lower case. */
export function formatsOf(name: string): readonly UpstreamFormat[] {
  if (name.startsWith('claude-')) return ['messages', 'completions'];
  if (name.startsWith('grok-') || name.startsWith('mai-')) return ['responses'];
  if (name === 'gpt-5.4' || name === 'gpt-5-mini') return ['completions', 'responses'];
  if (/^gpt-[34]/.test(name)) return ['completions'];
  return name.startsWith('gpt-') ? ['responses'] : ['completions'];
}

function suffix(upstream: UpstreamFormat | RouteType): string {
  return upstream === 'messages' ? '/v1/messages' : openaiSuffix(upstream);
}
