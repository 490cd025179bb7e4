import { pathOf, queryOf, type HttpRequest } from '../exchange/message.ts';
import type { Plan, ProviderRequest } from './providers/contract.ts';
import { isOpaque } from './providers/plan.ts';
import type { LlmService } from './service.ts';

/** Where a request goes at its service, and the headers that it wants. */
export function withTarget(
  request: HttpRequest,
  { service, facts, plan }: { readonly service: LlmService; readonly facts: ProviderRequest; readonly plan: Plan },
): void {
  request.target = targetOf(request.target, { service, facts, plan });
  service.provider.headers(request, facts, plan);
}

function targetOf(
  client: string,
  { service, facts, plan }: { readonly service: LlmService; readonly facts: ProviderRequest; readonly plan: Plan },
): string {
  const { settings, provider } = service;
  const { path, pathPrefix } = settings;
  if (path !== undefined) return path;
  if (isOpaque(facts.routeType)) {
    return pathPrefix === undefined
      ? client
      : `${provider.passthroughPath(pathOf(client), pathPrefix)}${queryOf(client)}`;
  }
  // An own host without a prefix speaks the client's paths.
  if (settings.host !== undefined && pathPrefix === undefined && settings.service.kind !== 'custom') return client;
  return withQuery(provider.path(facts, plan, pathPrefix), clientQuery(client, plan));
}

/** The query of the client; `alt` belongs to the gateway where Gemini is spoken. */
function clientQuery(client: string, plan: Plan): string {
  const query = queryOf(client).slice(1);
  const gemini =
    plan.kind === 'native'
      ? plan.format === 'generateContent'
      : plan.kind === 'translated' && plan.translation.to === 'generateContent';
  if (!gemini || query === '') return query;
  return query
    .split('&')
    .filter((part) => part !== 'alt' && !part.startsWith('alt='))
    .join('&');
}

function withQuery(path: string, query: string): string {
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
