import type { BackendAuth } from '../../../src/config/ir/index.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import type { BodyTranslation, Translation } from '../translations/contract.ts';

/** What a backend says of its provider, beside which one it is. */
export interface ProviderSettings {
  /** Takes the place of the model that requests name. */
  readonly model?: string | undefined;
  /** The configuration says where its credential goes: nobody moves it. */
  readonly authLocated: boolean;
}

/** What a provider is asked about. */
export interface ProviderRequest {
  readonly routeType: RouteType;
  /** As the service knows it; empty where the request names none. */
  readonly model: string;
  readonly streaming: boolean;
}

/** How a request of some type is served by a provider. */
export type Plan =
  /**
   * The service speaks the client's format: the body passes, `adapt` puts right what the service wants otherwise. `format`
   * is that of a chat; null for other bodies.
   */
  | { readonly kind: 'native'; readonly format: UpstreamFormat | null; readonly adapt?: Adapt | undefined }
  /** `adapt` puts right what is particular to this service. */
  | { readonly kind: 'translated'; readonly translation: Translation; readonly adapt?: Adapt | undefined }
  /** The service has a body of its own for what is no chat. */
  | { readonly kind: 'reshaped'; readonly translation: BodyTranslation }
  /** The gateway answers by itself: tokens are counted here. */
  | { readonly kind: 'local' }
  | { readonly kind: 'unsupported' };

/** Changes the body of a request for the service. */
export type Adapt = (body: JsonObject, request: ProviderRequest) => JsonObject;

/** A service of language models, with the settings of one backend. */
export interface Provider {
  /** For telemetry and prices: `openai`, `aws.bedrock`, … */
  readonly identity: string;
  /** Every host that requests may go to when none is configured, the usual one first; port 443 and TLS. */
  readonly hosts: readonly string[];
  /** One of `hosts`. */
  hostOf(request: ProviderRequest): string | undefined;
  plan(request: ProviderRequest): Plan;
  /** Path and query for a planned call; `prefix` is the configured `pathPrefix`. Throws an `LlmFailure` for models of no name. */
  path(request: ProviderRequest, plan: Plan, prefix: string | undefined): string;
  /** Where a client's own path leads (passthrough, detect). */
  passthroughPath(clientPath: string, prefix: string): string;
  /** Puts headers and credentials as the service wants them; the gateway's own credentials are in place. */
  headers(exchange: Pick<Exchange, 'request' | 'lent'>, facts: ProviderRequest, plan: Plan): void;
  /** Where none is configured. */
  readonly defaultAuth?: BackendAuth | undefined;
  /** Whether the service's input tokens leave out what its cache holds. */
  excludesCache(model: string, plan: Plan): boolean;
}
