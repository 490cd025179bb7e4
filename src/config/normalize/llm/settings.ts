import type { LlmDefaultsSpec, LlmModelSpec, LlmParamsSpec, LlmProviderChoice, LlmSpec } from '../../schema/llm.ts';
import type { Path } from '../../load/problem.ts';
import type { Context } from '../context.ts';

/** Settings of a model with those of its provider, and where each side is written. */
export interface Settings {
  readonly provider: LlmProviderChoice;
  readonly params: LlmParamsSpec;
  /** The entry that `params` belong to. */
  readonly providerPath: Path;
  readonly values: LlmDefaultsSpec;
  /** Where a value is written. */
  pathOf(key: keyof LlmDefaultsSpec): Path;
}

/** Fields that are maps; the entries of both sides count, and the model's win. */
const MAPS = ['defaults', 'overrides', 'transformation'] as const;

/** Undefined after a problem. */
export function settingsOf(
  context: Context,
  { model, section, path }: { readonly model: LlmModelSpec; readonly section: LlmSpec; readonly path: Path },
): Settings | undefined {
  const own = ownSettings(model);
  const { provider } = model;
  if (typeof provider === 'string' || provider.reference === undefined) {
    const choice = typeof provider === 'string' ? provider : { custom: provider.custom };
    return {
      // `as`: the schema makes sure that there is exactly one key.
      provider: choice as LlmProviderChoice,
      params: model.params,
      providerPath: path,
      values: own,
      pathOf: (key) => [...path, key],
    };
  }
  const { reference } = provider;
  const index = section.providers.findIndex(({ name }) => name === reference);
  const entry = section.providers[index];
  if (entry === undefined) {
    const names = section.providers.map(({ name }) => name).join(', ');
    context.report(
      [...path, 'provider', 'reference'],
      'GW_CONFIG_REFERENCE',
      `there is no provider ${JSON.stringify(reference)}`,
      { hint: names === '' ? 'declare it under `llm.providers`' : `what there is: ${names}` },
    );
    return undefined;
  }
  const at: Path = ['llm', 'providers', index];
  const defaults = entry.defaults ?? {};
  return {
    provider: entry.provider,
    params: { ...entry.params, ...(model.params.model === undefined ? {} : { model: model.params.model }) },
    providerPath: at,
    values: merged(defaults, own),
    pathOf: (key) => [...(own[key] === undefined ? [...at, 'defaults'] : path), key],
  };
}

function ownSettings(model: LlmModelSpec): LlmDefaultsSpec {
  const { defaults, overrides, transformation, requestHeaders, responseHeaders, ...rest } = model;
  const { tls, backendTLS, auth, health, backendTunnel, promptCaching } = rest;
  return {
    defaults,
    overrides,
    transformation,
    requestHeaders,
    responseHeaders,
    tls,
    backendTLS,
    auth,
    health,
    backendTunnel,
    promptCaching,
  };
}

function merged(defaults: LlmDefaultsSpec, own: LlmDefaultsSpec): LlmDefaultsSpec {
  const said = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  const maps = MAPS.flatMap((key) => {
    const entries = { ...defaults[key], ...own[key] };
    return Object.keys(entries).length === 0 ? [] : [[key, entries] as const];
  });
  // Two spellings of one key: what the model says counts, however either spells it.
  const tls = own.tls ?? own.backendTLS ?? defaults.tls ?? defaults.backendTLS;
  return { ...defaults, ...said, ...Object.fromEntries(maps), tls, backendTLS: undefined };
}
