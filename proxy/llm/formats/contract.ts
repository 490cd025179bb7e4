import type { JsonObject } from '../../exchange/attributes.ts';
import type { LlmUsage } from '../../exchange/llm-usage.ts';

/** What the gateway has to know of a wire format to carry, count and refuse, beside translating it. */
export interface WireFormat {
  /** An error of the gateway as clients of the format expect it. */
  error(status: number, message: string, code?: string): JsonObject;
  /** The last event of a stream that could not be finished. */
  streamError(message: string): { readonly name: string | null; readonly data: JsonObject };
  /** What a whole answer tells. */
  answer(body: JsonObject): Told;
  /** What one event of a stream tells; later events overwrite what earlier ones told. Null tells nothing. */
  told(name: string | null, data: JsonObject): Told | null;
  /** Whether an event is worth reading for that, by its text. The first event of a stream is read in any case. */
  mayTell(data: string): boolean;
  /** Bytes of what an event adds to the answer, thoughts and calls among it: roughly, by its text. */
  said(data: string): number;
  /** Whether an event of a stream ends the answer, or tells that there is none. */
  ends(name: string | null, data: JsonObject): boolean;
  /** The text that an event adds for a person to read: what the time to the first token is measured by. */
  delta(name: string | null, data: JsonObject): string | null;
}

/** What answers tell about themselves. */
export interface Told {
  readonly model?: string | undefined;
  readonly usage?: LlmUsage | undefined;
  /** What a count of tokens that was asked for came to. */
  readonly countTokens?: number | undefined;
}
