import type { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { emptyBody } from '../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpRequest } from '../../../../proxy/exchange/message.ts';
import type { Plan, Provider, ProviderRequest } from '../../../../proxy/llm/providers/contract.ts';
import { providerOf } from '../../../../proxy/llm/providers/registry.ts';
import type { LlmService as Compiled } from '../../../../proxy/llm/service.ts';
import { withTarget } from '../../../../proxy/llm/target.ts';
import type { AiProvider, LlmService, LlmRouteType } from '../../../../src/config/ir/index.ts';

/** Services by the names that the tables use. */
export const services = {
  openai: { kind: 'openai' },
  anthropic: { kind: 'anthropic' },
  gemini: { kind: 'gemini' },
  vertex: { kind: 'vertex', projectId: 'p1', region: 'us-central1' },
  vertexGlobal: { kind: 'vertex', projectId: 'p1' },
  vertexEu: { kind: 'vertex', projectId: 'p1', region: 'eu' },
  bedrock: { kind: 'bedrock', region: 'us-west-2' },
  azure: { kind: 'azure', resourceName: 'acme', resourceType: 'openAI' },
  azureV1: { kind: 'azure', resourceName: 'acme', resourceType: 'openAI', apiVersion: 'v1' },
  azurePreview: { kind: 'azure', resourceName: 'acme', resourceType: 'openAI', apiVersion: 'preview' },
  azureDated: { kind: 'azure', resourceName: 'acme', resourceType: 'openAI', apiVersion: '2024-10-21' },
  foundry: { kind: 'azure', resourceName: 'acme', resourceType: 'foundry' },
  foundryProject: { kind: 'azure', resourceName: 'acme', resourceType: 'foundry', projectName: 'lab' },
  aiServices: { kind: 'azure', resourceName: 'acme', resourceType: 'aiServices' },
  copilot: { kind: 'copilot' },
  custom: {
    kind: 'custom',
    identity: 'mine',
    formats: [{ type: 'completions' }, { type: 'messages' }, { type: 'embeddings' }, { type: 'anthropicTokenCount' }],
  },
  customGemini: {
    kind: 'custom',
    identity: 'mine',
    formats: [{ type: 'generateContent' }, { type: 'geminiCountTokens' }],
  },
  customPaths: {
    kind: 'custom',
    identity: 'cohere',
    formats: [
      { type: 'completions', path: '/compatibility/v1/chat/completions' },
      { type: 'rerank', path: '/v2/rerank' },
      { type: 'realtime' },
    ],
  },
} as const satisfies Readonly<Record<string, LlmService>>;

export type ServiceName = keyof typeof services;

export interface Case {
  readonly service: ServiceName;
  readonly type: LlmRouteType;
  readonly model?: string;
  readonly streaming?: boolean;
  readonly client?: string;
  readonly settings?: Partial<AiProvider>;
  readonly authLocated?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** The gateway has a credential of its own. */
  readonly hasCredential?: boolean;
  readonly upgrade?: string;
}

export interface Made {
  readonly provider: Provider;
  readonly request: ProviderRequest;
  readonly plan: Plan;
  readonly exchange: Pick<Exchange, 'request' | 'lent'>;
  readonly compiled: Compiled;
}

/** What becomes of a request at its provider: target and headers. */
export function made(row: Case): Made {
  const { service, type, model = '', streaming = false, client = '/client/path', settings = {} } = row;
  const provider = providerOf(services[service], { model: settings.model, authLocated: row.authLocated ?? false });
  const request: ProviderRequest = { routeType: type, model, streaming };
  const plan = provider.plan(request);
  const http: HttpRequest = {
    method: 'POST',
    scheme: 'https',
    authority: 'gw.test',
    target: client,
    version: 'HTTP/1.1',
    headers: Headers.from(Object.entries(row.headers ?? {})),
    body: emptyBody,
    upgrade: row.upgrade ?? null,
  };
  const exchange: Pick<Exchange, 'request' | 'lent'> = { request: http, lent: null };
  const own: AiProvider = {
    name: 'p',
    key: '/b/p',
    service: services[service],
    tokenize: false,
    policies: {},
    ...settings,
  };
  const compiled: Compiled = {
    settings: own,
    provider,
    types: [],
    hasCredential: row.hasCredential ?? false,
    policy: {},
    mutate: null,
    alias: (name) => name,
    enrich: null,
    guards: { request: null, response: null, stream: null, realtime: null },
    finalize: null,
  };
  withTarget(exchange, { service: compiled, facts: request, plan });
  return { provider, request, plan, exchange, compiled };
}
