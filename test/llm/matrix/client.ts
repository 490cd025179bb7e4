import type { ChatFormat } from '../../../proxy/llm/formats.ts';

/** One question, as every client can ask it. */
export interface Question {
  /** Null: the last thing said is the results of tools. */
  readonly prompt: string | null;
  readonly earlier?: readonly Earlier[];
  readonly system?: string;
  readonly tools?: readonly Tool[];
  /** A schema that the answer has to follow. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly image?: boolean;
  /** The model shall think, and show it. */
  readonly reasoning?: boolean;
  readonly stream: boolean;
}

/** What was asked before, what came back in the client's own form, and what its tools then said. */
export interface Earlier {
  readonly prompt: string;
  readonly reply: unknown;
  readonly results?: readonly Result[];
}

export interface Result {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface Tool {
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What the user of a client sees. */
export interface Told {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  /** In the client's own words. */
  readonly finish: string;
  readonly usage: { readonly input: number; readonly cached: number; readonly output: number };
  readonly reply: unknown;
}

export interface Failure {
  /** Name of the class. */
  readonly kind: string;
  readonly status: number | undefined;
  readonly message: string;
  readonly retryAfter: string | null | undefined;
}

/** The library of a vendor with one of its formats. */
export interface ChatClient {
  readonly name: string;
  readonly format: ChatFormat | 'converse';
  /** Of a gateway at `url`. */
  at(url: string): Chat;
  readonly finish: {
    readonly stop: string;
    readonly length: string;
    readonly calls: string;
    readonly filtered: string;
  };
  /** How the words of a model that refuses are told; undefined: as by a filter. */
  readonly refused?: { readonly finish: string; readonly worded: boolean };
  /** Whether the input that it tells has what came out of the cache in it, when the client's format says so. */
  readonly countsCached: boolean;
  readonly errors: Readonly<Record<number, string>>;
  failure(error: unknown): Failure;
  /** What the library cannot ask for or tell. */
  readonly lacks?: ReadonlySet<'retryAfter' | 'reasoning' | 'signatures'>;
  /** Its bodies are not read on the way: what is no answer reaches it as it is. */
  readonly opaque?: true;
}

export interface Chat {
  ask(model: string, question: Question): Promise<Told>;
  /** Pieces of the text of a stream. */
  pieces(model: string, prompt: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

/** A picture of one point. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export function parsed(json: string): unknown {
  return json === '' ? {} : JSON.parse(json);
}
