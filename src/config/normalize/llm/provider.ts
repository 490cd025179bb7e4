import type { HostTarget } from '../../ir/backend.ts';
import type { LlmService } from '../../ir/llm.ts';
import type { Path } from '../../load/problem.ts';
import type { LlmParamsSpec } from '../../schema/llm.ts';
import { betas } from '../ai-backend.ts';
import type { Context } from '../context.ts';
import { parseHostTarget } from '../host-target.ts';
import { type BaseUrl, parseBaseUrl } from './base-url.ts';
import { isPreset, presets } from './presets.ts';
import type { Settings } from './settings.ts';

/** Who is called, and where. */
export interface Endpoint {
  readonly service: LlmService;
  readonly model: string | undefined;
  readonly host: HostTarget | undefined;
  readonly path: string | undefined;
  readonly pathPrefix: string | undefined;
  /** The address says so. */
  readonly tls: boolean;
}

/** Undefined after a problem. */
export function endpointOf(context: Context, { provider, params, providerPath: path }: Settings): Endpoint | undefined {
  const named = typeof provider === 'string' && isPreset(provider) ? presets[provider] : undefined;
  const service = serviceOf(context, { provider, params, path });
  const base = baseOf(context, { params, fallback: named?.baseUrl, path: [...path, 'params'] });
  if (service === undefined || base === undefined) return undefined;
  const custom = typeof provider === 'string' ? undefined : provider.custom;
  if (custom !== undefined && base.host === undefined) {
    context.report([...path, 'params'], 'GW_CONFIG_MISSING', 'a custom provider needs `baseUrl`');
    return undefined;
  }
  return { service, model: params.model ?? custom?.model, path: params.pathOverride, ...base };
}

interface ProviderPlace {
  readonly provider: Settings['provider'];
  readonly params: LlmParamsSpec;
  readonly path: Path;
}

function serviceOf(context: Context, place: ProviderPlace): LlmService | undefined {
  const { provider, params } = place;
  if (typeof provider !== 'string') {
    const { formats, providerOverride } = provider.custom;
    return { kind: 'custom', formats, identity: providerOverride ?? 'custom' };
  }
  if (isPreset(provider)) return { kind: 'custom', formats: presets[provider].formats, identity: provider };
  switch (provider) {
    case 'openAI':
    case 'openai':
      return { kind: 'openai' };
    case 'vertex': {
      const { vertexProject: projectId, vertexRegion: region } = params;
      return projectId === undefined ? missing(context, place, 'vertexProject') : { kind: 'vertex', projectId, region };
    }
    case 'bedrock': {
      const { awsRegion: region } = params;
      return region === undefined
        ? missing(context, place, 'awsRegion')
        : { kind: 'bedrock', region, betas: betas(context) };
    }
    case 'azure':
      return azure(context, place);
    default:
      return { kind: provider };
  }
}

function azure(context: Context, place: ProviderPlace): LlmService | undefined {
  const { azureResourceName: resourceName, azureResourceType: resourceType, ...rest } = place.params;
  const { azureApiVersion: apiVersion, azureProjectName: projectName } = rest;
  if (resourceName === undefined) missing(context, place, 'azureResourceName');
  if (resourceType === undefined) missing(context, place, 'azureResourceType');
  if (resourceName === undefined || resourceType === undefined) return undefined;
  return { kind: 'azure', resourceName, resourceType, apiVersion, projectName };
}

function missing(context: Context, { provider, path }: ProviderPlace, key: keyof LlmParamsSpec): undefined {
  const message = `the provider ${JSON.stringify(provider)} needs \`params.${key}\``;
  context.report([...path, 'params'], 'GW_CONFIG_MISSING', message);
  return undefined;
}

type Base = Pick<Endpoint, 'host' | 'pathPrefix' | 'tls'>;

function baseOf(
  context: Context,
  {
    params,
    fallback,
    path,
  }: { readonly params: LlmParamsSpec; readonly fallback: string | undefined; readonly path: Path },
): Base | undefined {
  const { baseUrl, hostOverride, pathPrefix } = params;
  const address = baseUrl ?? (hostOverride === undefined ? fallback : undefined);
  const read: BaseUrl | string | undefined = address === undefined ? undefined : parseBaseUrl(address);
  if (typeof read === 'string') {
    context.report([...path, 'baseUrl'], 'GW_CONFIG_VALUE', read);
    return undefined;
  }
  const prefix = pathPrefix?.replace(/\/+$/, '') ?? read?.prefix;
  if (read !== undefined) return { host: read.target, tls: read.tls, pathPrefix: prefix };
  // An address that cannot be read was told while screening.
  const host = hostOverride === undefined ? undefined : parseHostTarget(hostOverride);
  return typeof host === 'string' ? undefined : { host, tls: false, pathPrefix: prefix };
}
