import type { JsonObject } from '../../exchange/attributes.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { ChatFormat, UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';

/** Hears what a translation could not carry over as it was, by the path of the field (`tools[0].strict`). */
export interface Notes {
  dropped(path: string, why?: string): void;
  /** Also for fields whose value had to be changed. */
  renamed(path: string, to: string): void;
  added(path: string): void;
}

/** What a translation depends on beside the body. */
export interface RequestFacts {
  /** As the service knows it: after overrides and aliases. */
  readonly model: string;
  readonly streaming: boolean;
  /** Of the request as it leaves. */
  readonly headers: Headers;
  readonly promptCaching: PromptCaching | null;
  /** Guardrail of the service itself (Bedrock). */
  readonly guardrail: { readonly identifier: string; readonly version: string } | null;
  /** Of the service's own names (Bedrock). */
  readonly region: string | null;
  /** Anthropic's betas that may be asked for at Bedrock, `default` among them; null is the usual list. */
  readonly betas: readonly string[] | null;
}

export interface PromptCaching {
  readonly cacheSystem: boolean;
  readonly cacheMessages: boolean;
  readonly cacheTools: boolean;
  readonly minTokens: number;
  readonly cacheMessageOffset: number;
}

/** How chats of one format are sent to a service that speaks another. */
export interface Translation {
  readonly from: ChatFormat;
  readonly to: UpstreamFormat;
  /** Throws an `LlmFailure` for what the other format cannot say and must not be left out. */
  begin(body: JsonObject, facts: RequestFacts, notes: Notes): TranslatedCall;
}

/** How bodies that are no chats (embeddings, rerank, counts of tokens) are sent to a service that has its own for them. */
export interface BodyTranslation {
  readonly from: RouteType;
  /** For traces. */
  readonly to: string;
  /** Throws an `LlmFailure` for what the service's body cannot say and must not be left out. */
  begin(body: JsonObject, facts: RequestFacts, notes: Notes): TranslatedBody;
}

/** One request that was translated; remembers what its answers need (names of tools, the model). */
export interface TranslatedBody {
  /** The body for the service. */
  readonly body: JsonObject;
  /** An answer with a status of 2xx. Throws an `LlmFailure` of the kind `response` for what is none. */
  response(body: JsonObject, headers: Headers): JsonObject;
  /** Called once, for a streamed answer; missing where there are none. */
  stream?(): StreamTranslator;
  /** An answer with any other status, in the client's format; undefined when the body is no error of the service. */
  error(status: number, body: string, headers?: Headers): JsonObject | undefined;
}

/** A chat that was translated. */
export interface TranslatedCall extends TranslatedBody {
  response(body: JsonObject): JsonObject;
  stream(): StreamTranslator;
}

/** Turns one stream of events into another; event by event, so that nothing waits for what is not needed. */
export interface StreamTranslator {
  /** `name` is the event's type where the framing has one. */
  event(name: string | null, data: JsonObject, out: EventWriter): void;
  /** The answer is told to its end: what still comes, or does not, changes nothing. */
  readonly complete?: boolean;
  /** The stream has ended without a fault; `done`: it said so itself (`[DONE]`). Called once. */
  end(done: boolean, out: EventWriter): void;
}

/** Takes events in the client's format. */
export interface EventWriter {
  event(name: string | null, data: JsonObject): void;
  /** `data: [DONE]` */
  done(): void;
}
