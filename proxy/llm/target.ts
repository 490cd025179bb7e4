import type { LlmService as Service } from '../../src/config/ir/index.ts';
import { removeParameter } from '../credentials/query.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { LentCredentials } from '../exchange/lent-credentials.ts';
import { pathOf, queryOf } from '../exchange/message.ts';
import { isAzureTarget, openaiPathOf, pathModel, withPathModel } from './path-model.ts';
import type { Plan, ProviderRequest } from './providers/contract.ts';
import { isOpaque, upstreamOf } from './providers/plan.ts';
import { withQueryModel } from './realtime/watch.ts';
import type { LlmService } from './service.ts';

/** Where a request goes at its service, and the headers that it wants. */
export function withTarget(
  exchange: Pick<Exchange, 'request' | 'lent'>,
  { service, facts, plan }: { readonly service: LlmService; readonly facts: ProviderRequest; readonly plan: Plan },
): void {
  const { request } = exchange;
  const client = service.hasCredential ? withoutClientKeys(exchange) : request.target;
  request.target = targetOf(client, { service, facts, plan });
  service.provider.headers(exchange, facts, plan);
  if (service.hasCredential) hideClientKeys(exchange);
}

/** Where the libraries of vendors put the keys that they show to the gateway. */
const CLIENT_KEYS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token'];

/** And in the query: Google's, Azure's and everybody's. */
const CLIENT_PARAMETERS = ['key', 'api-key', 'access_token'];
/** Browsers cannot write headers of a web socket: OpenAI's library writes the key among its protocols. */
const KEY_PROTOCOL = /^openai-insecure-api-key\./;

/** A service that has a credential of the gateway's sees none of the client's, which are for the gateway alone. */
function hideClientKeys(exchange: Pick<Exchange, 'request' | 'lent'>): void {
  const { request } = exchange;
  for (const name of CLIENT_KEYS) {
    if (!request.headers.has(name) || exchange.lent?.hidesHeader(name) === true) continue;
    // Lent, so that the next attempt finds it.
    (exchange.lent ??= new LentCredentials()).lendHeader(request, name);
    request.headers.remove(name);
  }
  if (request.upgrade !== null) hideKeyProtocol(exchange);
}

function hideKeyProtocol(exchange: Pick<Exchange, 'request' | 'lent'>): void {
  const { request } = exchange;
  const asked = request.headers.getAll('sec-websocket-protocol').flatMap((value) => value.split(','));
  const others = asked.map((each) => each.trim()).filter((each) => !KEY_PROTOCOL.test(each));
  if (others.length === asked.length) return;
  (exchange.lent ??= new LentCredentials()).lendHeader(request, 'sec-websocket-protocol');
  if (others.length === 0) request.headers.remove('sec-websocket-protocol');
  else request.headers.set('sec-websocket-protocol', others.join(', '));
}

/** The target that the client sent, without its keys; the gateway's own credential stays. */
function withoutClientKeys({ request, lent }: Pick<Exchange, 'request' | 'lent'>): string {
  if (!request.target.includes('?')) return request.target;
  return CLIENT_PARAMETERS.filter((name) => lent?.parameters.has(name) !== true).reduce(
    removeParameter,
    request.target,
  );
}

function targetOf(
  client: string,
  { service, facts, plan }: { readonly service: LlmService; readonly facts: ProviderRequest; readonly plan: Plan },
): string {
  const { settings, provider } = service;
  const { path, pathPrefix } = settings;
  if (path !== undefined) return path;
  if (isOpaque(facts.routeType)) {
    const own = settings.service.kind === 'openai' && isAzureTarget(client) ? openaiTarget(client) : client;
    return pathPrefix === undefined ? own : `${provider.passthroughPath(pathOf(own), pathPrefix)}${queryOf(own)}`;
  }
  // An own host without a prefix speaks the client's paths, as long as it speaks the client's format.
  const own = settings.host !== undefined && pathPrefix === undefined && settings.service.kind !== 'custom';
  if (own && plan.kind === 'native' && isPathOf(settings.service.kind, client)) return naming(facts.model, client);
  const target = withQuery(
    provider.path(facts, plan, pathPrefix),
    clientQuery(client, { kind: settings.service.kind, facts, plan }),
  );
  // Sessions name their model in the query; versions of Azure by their date have another word for it.
  if (facts.routeType !== 'realtime' || facts.model === '') return target;
  return withQueryModel(target, facts.model, target.includes('/openai/realtime?api-version=') ? 'deployment' : 'model');
}

/** Whether a client's path can be one of the service: paths of Azure and Vertex AI say what no other vendor's say. */
function isPathOf(kind: Service['kind'], client: string): boolean {
  if (kind === 'azure') return /^\/(?:openai|anthropic|api\/projects)\//.test(client);
  if (kind === 'vertex') return client.includes('/projects/');
  return !isAzureTarget(client) && !client.includes('/publishers/');
}

/** What a client of Azure asks for, where OpenAI has it. */
function openaiTarget(client: string): string {
  return withQuery(openaiPathOf(pathOf(client)), without(queryOf(client).slice(1), ['api-version']));
}

/** A client's path that names a model names the one that serves it. */
function naming(model: string, client: string): string {
  const path = pathOf(client);
  const named = pathModel(path);
  return named === undefined || named === model ? client : `${withPathModel(path, model)}${queryOf(client)}`;
}

/** The query of the client, without what belongs to the API that it was written for. */
function clientQuery(
  client: string,
  { kind, facts, plan }: { readonly kind: Service['kind']; readonly facts: ProviderRequest; readonly plan: Plan },
): string {
  const query = queryOf(client).slice(1);
  if (query === '') return query;
  const upstream = upstreamOf(facts, plan);
  const gemini = upstream === 'generateContent' || upstream === 'geminiCountTokens';
  const versioned = kind === 'azure' || (kind !== 'custom' && isAzureTarget(client));
  // Anthropic's library says so for betas; Google refuses parameters that it does not know.
  const beta = facts.routeType === 'messages' && plan.kind === 'translated';
  return without(query, [...(gemini ? ['alt'] : []), ...(versioned ? ['api-version'] : []), ...(beta ? ['beta'] : [])]);
}

function without(query: string, names: readonly string[]): string {
  if (names.length === 0) return query;
  return query
    .split('&')
    .filter((pair) => !names.includes(pair.split('=', 1)[0] ?? ''))
    .join('&');
}

function withQuery(path: string, query: string): string {
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
