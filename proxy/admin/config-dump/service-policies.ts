import type {
  Choice,
  ExtAuthz,
  ExtProc,
  McpGuardrails,
  RemoteRateLimit,
  RoutePolicies,
  ServiceRef,
} from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';

type Shown = Readonly<Record<string, unknown>>;
/** Shows the backend of a service and how it is connected to. */
type ShowService = (service: ServiceRef) => Shown;

/** Policies that ask a service, in the words of the configuration. */
export function servicePolicies(policies: RoutePolicies, show: ShowService): [string, unknown][] {
  const { extAuthz, extProc, remoteRateLimit } = policies;
  return [
    ['extAuthz', extAuthz && shownChoice(extAuthz, (settings) => shownExtAuthz(settings, show))],
    ['extProc', extProc && shownChoice(extProc, (settings) => shownExtProc(settings, show))],
    ['remoteRateLimit', remoteRateLimit && shownChoice(remoteRateLimit, (settings) => limits(settings, show))],
  ];
}

/** Settings that always hold stand alone. */
export function shownChoice<T>({ entries }: Choice<T>, show: (settings: T) => Shown): Shown {
  const [first] = entries;
  if (first !== undefined && entries.length === 1 && first.condition === undefined) return show(first.settings);
  return { conditional: entries.map(({ condition, settings }) => ({ condition, ...show(settings) })) };
}

export function shownExtAuthz(policy: ExtAuthz, show: ShowService): Shown {
  const { service, protocol, failure, includeRequestHeaders, includeRequestBody: body, cache } = policy;
  const { kind, ...settings } = protocol;
  return {
    ...show(service),
    protocol: { [kind]: settings },
    failureMode: failure,
    includeRequestHeaders,
    includeRequestBody: body && {
      maxRequestBytes: body.maxBytes,
      allowPartialMessage: body.allowPartial,
      packAsBytes: body.packAsBytes,
    },
    cache: cache && { ...cache, ttl: typeof cache.ttl === 'number' ? formatDuration(cache.ttl) : cache.ttl },
  };
}

function shownExtProc(policy: ExtProc, show: ShowService): Shown {
  const { service, failureMode, initialMetadata, metadataContext, requestAttributes, responseAttributes } = policy;
  const { modes, allowModeOverride } = policy;
  return {
    ...show(service),
    failureMode,
    initialMetadata,
    metadataContext,
    requestAttributes,
    responseAttributes,
    processingOptions: {
      requestBodyMode: modes.requestBody,
      responseBodyMode: modes.responseBody,
      requestHeaderMode: modes.requestHeaders,
      responseHeaderMode: modes.responseHeaders,
      requestTrailerMode: modes.requestTrailers,
      responseTrailerMode: modes.responseTrailers,
      allowModeOverride,
    },
  };
}

export function shownMcpGuardrails({ processors }: McpGuardrails, show: ShowService): Shown {
  return {
    processors: processors.map(({ service, methods, ...settings }) => ({
      kind: 'remote',
      ...show(service),
      methods: Object.fromEntries(methods),
      ...settings,
    })),
  };
}

function limits({ service, ...settings }: RemoteRateLimit, show: ShowService): Shown {
  return { ...show(service), ...settings };
}
