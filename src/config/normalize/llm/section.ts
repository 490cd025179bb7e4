import type { NamedBackend } from '../../ir/backend.ts';
import type { LlmModel } from '../../ir/llm.ts';
import type { GatewayPolicies } from '../../ir/policy.ts';
import type { HttpRoute } from '../../ir/route.ts';
import type { LlmProviderSpec, LlmSpec } from '../../schema/llm.ts';
import type { Path } from '../../load/problem.ts';
import { attachedListeners, defaultListeners } from '../attach.ts';
import type { Context } from '../context.ts';
import { type BindDraft, type ListenerDraft, listenerDraft } from '../listener.ts';
import { LLM_ROUTER } from '../names.ts';
import { guardPlace, routePolicies } from '../policy.ts';
import { modelKeyLocation } from '../policy/credential-location.ts';
import { promptGuard } from '../policy/prompt-guard.ts';
import { llmModel, type Shared } from './model.ts';
import { endpointOf } from './provider.ts';
import { virtualModels } from './virtual-model.ts';

const PATH: Path = ['llm'];
const OWN_PORT = 4000;

/** What the section adds to the rest of the file. */
export interface LlmParts {
  readonly binds: readonly BindDraft[];
  readonly backends: readonly NamedBackend[];
}

/** Attaches a route to the models to the listeners of `binds`, or opens a port for it. */
export function llmSection(context: Context, spec: LlmSpec | undefined, binds: readonly BindDraft[]): LlmParts {
  if (spec === undefined) return { binds: [], backends: [] };
  const models = llmModels(context, spec);
  const names = spec.models.map(({ name }) => name);
  const virtual = virtualModels(context, spec, { names, models });
  const router: NamedBackend = {
    name: LLM_ROUTER,
    backend: { kind: 'models', key: `/${LLM_ROUTER}`, models, virtualModels: virtual },
    policies: {},
  };
  const attached = listeners(context, spec, binds);
  for (const listener of attached ?? [])
    listener.routes.push({ path: PATH, route: route(context, spec, { listener, own: false }) });
  return { binds: attached === null ? [ownBind(context, spec)] : [], backends: [router] };
}

/** More literal characters first, then as written. */
function llmModels(context: Context, section: LlmSpec): LlmModel[] {
  const shared: Shared = { section, guards: sharedGuards(context, section) };
  const keys = new Set<string>();
  reportTwins(context, section.models, { list: 'models', field: 'id' });
  reportTwins(context, section.providers, { list: 'providers', field: 'name' });
  for (const [index, entry] of section.providers.entries()) checkProvider(context, entry, index);
  const models = section.models.flatMap((spec, index) => {
    const path = [...PATH, 'models', index];
    const model = llmModel(context, spec, { shared, path, key: unique(keys, `/llm:model:${spec.id ?? spec.name}`) });
    return model === undefined ? [] : [model];
  });
  // Sorting keeps the order of equals.
  return models.toSorted((left, right) => literals(right.name) - literals(left.name));
}

function literals(name: string): number {
  return name.replace('*', '').length;
}

function sharedGuards(context: Context, { policies }: LlmSpec): Shared['guards'] {
  const guards = policies?.guardrails;
  const path = [...PATH, 'policies', 'guardrails'];
  return guards && promptGuard(context, guards, guardPlace(context, { path, key: '/llm:router/guardrails' }));
}

function reportTwins(
  context: Context,
  entries: readonly { readonly id?: string | undefined; readonly name: string }[],
  { list, field }: { readonly list: string; readonly field: 'id' | 'name' },
): void {
  const seen = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const value = entry[field];
    if (value === undefined) continue;
    const earlier = seen.get(value);
    if (earlier === undefined) seen.set(value, index);
    else
      context.report(
        [...PATH, list, index, field],
        'GW_CONFIG_CONFLICT',
        `llm.${list}[${earlier}] has the ${field} ${JSON.stringify(value)} already`,
      );
  }
}

/** One that no model refers to has to be right too. */
function checkProvider(context: Context, { provider, params }: LlmProviderSpec, index: number): void {
  const providerPath = [...PATH, 'providers', index];
  endpointOf(context, { provider, params, providerPath, values: {}, pathOf: (key) => [...providerPath, key] });
}

function unique(keys: Set<string>, wanted: string): string {
  let key = wanted;
  for (let count = 2; keys.has(key); count += 1) key = `${wanted}#${count}`;
  keys.add(key);
  return key;
}

/** Where the models are attached; null where they get a port of their own. */
function listeners(context: Context, spec: LlmSpec, binds: readonly BindDraft[]): readonly ListenerDraft[] | null {
  const { gateways, port, tls } = spec;
  if (gateways !== undefined) return attachedListeners(context, binds, { refs: gateways, path: PATH });
  if (port !== undefined || tls !== undefined) return null;
  const found = defaultListeners(binds);
  if (found.length > 0) return found;
  // A gateway that is there but broken has problems of its own.
  return context.partial && context.names.gateways.has('default') ? [] : null;
}

function ownBind(context: Context, spec: LlmSpec): BindDraft {
  const place = { key: 'llm', name: 'llm', gateway: undefined, namespace: 'default', hostname: '*', path: PATH };
  const { tls, port } = spec;
  const written = { ...place, policiesPath: [...PATH, 'policies'] };
  const plain = listenerDraft(context, { tls, protocol: undefined, ...spec.policies }, written);
  const draft = { ...plain, policies: withModelKeys(plain.policies, spec.policies) };
  draft.routes.push({ path: PATH, route: route(context, spec, { listener: draft, own: true }) });
  const path = port === undefined ? PATH : [...PATH, 'port'];
  return { port: port ?? OWN_PORT, source: 'llm', path, tunnelProtocol: 'direct', listeners: [draft] };
}

/** Keys are where libraries for models put them, unless the file says where. */
function withModelKeys<Policies extends GatewayPolicies>(policies: Policies, spec: LlmSpec['policies']): Policies {
  const { apiKey } = policies;
  if (apiKey === undefined || spec?.apiKey?.location !== undefined) return policies;
  return { ...policies, apiKey: { ...apiKey, location: modelKeyLocation } };
}

/** Every request; on a port of its own what callers have to show is asked for before. */
function route(
  context: Context,
  { policies = {} }: LlmSpec,
  { listener, own }: { readonly listener: ListenerDraft; readonly own: boolean },
): HttpRoute {
  const key = `${listener.key}/default/llm`;
  const { localRateLimit, remoteRateLimit, guardrails: _guardrails, ...early } = policies;
  const limits = { localRateLimit, remoteRateLimit };
  const spec = own ? limits : { ...early, ...limits };
  const place = { path: [...PATH, 'policies'], key, origin: 'llm' };
  return {
    key,
    name: 'llm',
    namespace: 'default',
    hostnames: [],
    matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: undefined, headers: [], query: [] }],
    policies: withModelKeys(routePolicies(context, spec, place), policies),
    backends: [{ weight: 1, index: 0, target: { kind: 'reference', backend: `/${LLM_ROUTER}` }, policies: {} }],
  };
}
