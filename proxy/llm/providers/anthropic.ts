import type { Exchange } from '../../exchange/exchange.ts';
import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { bearerOf, dropForeign, moveBearer } from './bearer.ts';
import type { Adapt, Plan, Provider, ProviderRequest, ProviderSettings } from './contract.ts';
import { underPrefix } from './openai.ts';
import { chatPlan, isChat, isOpaque, native, unsupported, upstreamOf } from './plan.ts';

const BASE = '/v1';
/** The version of the API whose bodies the gateway knows. */
export const ANTHROPIC_VERSION = '2023-06-01';
/** Tokens of people, not keys: they stay where OAuth has them. */
const OAUTH_TOKEN = 'sk-ant-oat';
/** What browsers send; the service refuses requests that come from one. */
const BROWSER = ['origin', 'access-control-request-method', 'access-control-request-headers'];

/** Anthropic. */
export function anthropic({ authLocated }: ProviderSettings): Provider {
  return {
    identity: 'anthropic',
    hosts: ['api.anthropic.com'],
    hostOf: () => 'api.anthropic.com',
    plan: anthropicPlan,
    path: (request, plan, prefix) => `${prefix ?? BASE}${anthropicSuffix(upstreamOf(request, plan))}`,
    passthroughPath: underPrefix,
    headers(exchange) {
      placeCredential(exchange, authLocated);
      const { headers } = exchange.request;
      headers.set('anthropic-version', ANTHROPIC_VERSION);
      for (const name of headers.names.filter(isBrowsers)) headers.remove(name);
    },
    excludesCache: () => true,
  };
}

function isBrowsers(name: string): boolean {
  return BROWSER.includes(name) || name.startsWith('sec-fetch-');
}

/** What services that are made like Anthropic can do. */
export function anthropicPlan({ routeType }: ProviderRequest): Plan {
  if (isChat(routeType)) return chatPlan(routeType, ['messages'], { messages: withoutVersion });
  if (isOpaque(routeType) || routeType === 'anthropicTokenCount') return native(null);
  return unsupported;
}

/** Clients of clouds write the version into the body; here it stands in a header, and nowhere else. */
const withoutVersion: Adapt = (body) => {
  if (body['anthropic_version'] === undefined) return body;
  const { anthropic_version: _version, ...rest } = body;
  return rest;
};

/** What follows the base path. */
export function anthropicSuffix(type: UpstreamFormat | RouteType): string {
  return type === 'anthropicTokenCount' ? '/messages/count_tokens' : '/messages';
}

function placeCredential(exchange: Pick<Exchange, 'request' | 'lent'>, located: boolean): void {
  const token = bearerOf(exchange);
  if (token === undefined) return;
  if (located || token.startsWith(OAUTH_TOKEN)) dropForeign(exchange, 'x-api-key');
  else moveBearer(exchange, token, 'x-api-key');
}
