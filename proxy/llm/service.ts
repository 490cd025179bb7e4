import type { AiPolicy, AiProvider, BackendAuth } from '../../src/config/ir/index.ts';
import type { JsonObject } from '../exchange/attributes.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Headers } from '../exchange/headers.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { PolicyContext } from '../policy/contract.ts';
import { compileBodies } from './body/compile.ts';
import type { ChatFormat } from './formats.ts';
import { compileGuards } from './guards/compile.ts';
import type { Relay } from './guards/realtime/session.ts';
import type { GuardedStream } from './guards/stream/guarded-stream.ts';
import type { Provider } from './providers/contract.ts';
import { providerOf } from './providers/registry.ts';
import type { RouteType, RouteTypes } from './route-type.ts';

/** Changes a body; throws an `LlmFailure` for what may not pass. */
export type BodyChange = (exchange: Exchange, body: JsonObject, type: RouteType) => JsonObject;

/** What guards decided about a text that a client sent or is to get. */
export type GuardOutcome =
  | { readonly kind: 'pass'; readonly body: JsonObject }
  | { readonly kind: 'fail'; readonly refusal: Refusal };

/** Looks at the texts of requests and answers, in the client's format. */
export interface Guards {
  readonly request: BodyGuard | null;
  readonly response: BodyGuard | null;
  /** Made for each streamed answer. */
  readonly stream: ((exchange: Exchange, type: ChatFormat, headers: Headers) => GuardedStream) | null;
  /** Made for each realtime session. */
  readonly realtime: ((exchange: Exchange, limitBytes: number) => Relay) | null;
}

/** `headers` are those of the message that the body belongs to. A promise only when somebody is asked. */
export type BodyGuard = (
  exchange: Exchange,
  body: JsonObject,
  type: ChatFormat,
  headers: Headers,
) => GuardOutcome | Promise<GuardOutcome>;

/** One service of a backend, compiled: the provider and what is done with bodies on the way there. */
export interface LlmService {
  readonly settings: AiProvider;
  readonly provider: Provider;
  readonly types: RouteTypes;
  readonly policy: AiPolicy;
  /** Overrides, transformations and defaults. */
  readonly mutate: BodyChange | null;
  readonly alias: (model: string) => string;
  readonly enrich: BodyChange | null;
  readonly guards: Guards;
  /** The service is shown a credential of the gateway's own. */
  readonly hasCredential: boolean;
  /** Over the body as the service gets it. */
  readonly finalize: BodyChange | null;
  /** Nothing is called, so that there is no answer to read. */
  readonly uncalled?: boolean | undefined;
}

/** `settings.policies` are those that hold for it. Throws a `GwError` for what cannot be compiled. */
export function compileService(settings: AiProvider, policy: AiPolicy, context: PolicyContext): LlmService {
  const { backendAuth } = settings.policies;
  const provider = providerOf(settings.service, { model: settings.model, authLocated: isLocated(backendAuth) });
  return {
    settings,
    provider,
    hasCredential: isOwn(backendAuth ?? provider.defaultAuth),
    types: policy.routes ?? [],
    policy,
    ...compileBodies(policy, context),
    guards: compileGuards(policy.promptGuard, context),
    uncalled: context.deps.dryRun !== undefined,
  };
}

/** Not one of the client's that goes on. */
function isOwn(auth: BackendAuth | undefined): boolean {
  if (auth === undefined) return false;
  return auth.credentials.length > 0 || (auth.main !== undefined && auth.main.kind !== 'passthrough');
}

/** Further credentials always name their place. */
function isLocated(auth: BackendAuth | undefined): boolean {
  if (auth === undefined) return false;
  const { located, credentials } = auth;
  return (
    located === true ||
    credentials.some(({ location }) => location.kind === 'header' && location.name === 'authorization')
  );
}
