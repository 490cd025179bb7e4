import type { EndpointGroupDump, ModelDump } from '../../../src/admin/protocol/config-dump.ts';
import type {
  AiBackend,
  AiProvider,
  Backend,
  GatewayConfig,
  LlmModel,
  LlmService,
  ModelsBackend,
  NamedBackend,
  VirtualModel,
} from '../../../src/config/ir/index.ts';
import type { EndpointInfo, EndpointSpending } from '../../backends/endpoint-view.ts';
import { decimalText } from '../../../src/shared/dollars.ts';
import { infoDump } from './endpoint-info.ts';
import { backendPolicies } from './policies.ts';
import { shownRules } from './caller-policies.ts';
import { targetText } from './target-text.ts';

type Shown = Readonly<Record<string, unknown>>;

/** Live numbers of services of language models, where they are known. */
export interface LiveMembers {
  ofMember(key: string): EndpointInfo | undefined;
  spentOn(key: string): EndpointSpending | undefined;
  /** Of a virtual model that passes requests on to others. */
  ofVirtualModel(name: string): EndpointInfo | undefined;
  spentThrough(name: string): EndpointSpending | undefined;
  readonly nowMs: number;
}

/** Services of a backend by priority, with their health; keys and tokens hide themselves. */
export function aiTarget({ groups }: AiBackend, live: LiveMembers): Shown {
  return { providers: groups.map((group) => providerGroup(group, live)) };
}

function providerGroup(group: readonly AiProvider[], live: LiveMembers): EndpointGroupDump {
  const active: Record<string, EndpointGroupDump['active'][string]> = {};
  const rejected: typeof active = {};
  for (const provider of group) {
    const info = live.ofMember(provider.key);
    const evicted = info !== undefined && info.evictedUntil !== null;
    (evicted ? rejected : active)[provider.name] = {
      endpoint: endpoint(provider),
      info: { ...infoDump(info, live.nowMs), ...spending(live.spentOn(provider.key)) },
      capacity: 1,
    };
  }
  return { active, rejected };
}

function spending(spent: EndpointSpending | undefined) {
  const { inputTokens = 0, outputTokens = 0, cost = 0n } = spent ?? {};
  return { inputTokens, outputTokens, cost: decimalText(cost) };
}

function endpoint({ name, standsFor, service, model, host, path, pathPrefix, tokenize, policies }: AiProvider): Shown {
  const inlinePolicies = backendPolicies(policies);
  return {
    name,
    standsFor,
    provider: shownService(service, model),
    hostOverride: host && targetText(host),
    pathOverride: path,
    pathPrefix,
    tokenize,
    ...(inlinePolicies.length > 0 ? { inlinePolicies } : {}),
  };
}

function shownService({ kind, ...settings }: LlmService, model: string | undefined): Shown {
  return { [kind === 'openai' ? 'openAI' : kind]: { ...settings, model } };
}

/** The backends that models of `llm` have, which nothing names. */
export function modelBackends({ backends }: GatewayConfig): Backend[] {
  return backends.flatMap(({ backend }) => {
    if (backend.kind !== 'models') return [];
    const failovers = backend.virtualModels.flatMap(({ routing }) =>
      routing.kind === 'failover' ? [routing.backend] : [],
    );
    return [...backend.models.map((model) => model.backend), ...failovers];
  });
}

/** Every model, under each listener that leads to it. */
export function modelsDump(config: GatewayConfig, live: LiveMembers): ModelDump[] {
  return config.backends.flatMap(({ backend, name }) =>
    backend.kind === 'models'
      ? listenersOf(config, name).flatMap((listenerKey) => listed(backend, listenerKey, live))
      : [],
  );
}

function listenersOf({ binds }: GatewayConfig, name: NamedBackend['name']): string[] {
  return binds
    .flatMap(({ listeners }) => listeners)
    .filter(({ routes }) =>
      routes.some(({ backends }) =>
        backends.some(({ target }) => target.kind === 'reference' && target.backend === `/${name}`),
      ),
    )
    .map(({ key }) => key);
}

function listed(
  { key: routerKey, models, virtualModels }: ModelsBackend,
  listenerKey: string,
  live: LiveMembers,
): ModelDump[] {
  return [
    ...models.map((model) => ({
      listenerKey,
      key: model.backend.key.replace(/^\//, ''),
      name: model.name,
      routerKey,
      kind: { concrete: concrete(model) },
    })),
    ...virtualModels.map((model) => ({
      listenerKey,
      key: `llm:virtual-model:${model.name}`,
      name: model.name,
      routerKey,
      kind: { virtual: virtual(model, live) },
    })),
  ];
}

function concrete({ id, name, visibility, matches, backend, authorization }: LlmModel): Shown {
  const [provider] = backend.groups.flat();
  const backendBodies = provider === undefined ? [] : backendPolicies(provider.policies);
  return {
    id: id ?? null,
    name,
    visibility,
    headerMatches: matches.map((headers) =>
      headers.map(({ name: header, value }) => ({ name: header, value: { [value.kind]: value.value } })),
    ),
    backend: backend.key,
    policies: authorization === undefined ? [] : [{ authorization: shownRules(authorization) }],
    backendPolicies: backendBodies,
  };
}

function virtual({ name, routing }: VirtualModel, live: LiveMembers): Shown {
  if (routing.kind === 'failover')
    return { name, routing: { failover: { backend: routing.backend.key, targets: routing.targets } } };
  const info = { ...infoDump(live.ofVirtualModel(name), live.nowMs), ...spending(live.spentThrough(name)) };
  return { name, routing: { [routing.kind]: routing.targets }, info };
}
