import type { JsonObject } from '../../admin/protocol/lenient.ts';
import type { ChatDraft } from '../answer.ts';

/** What is asked. */
export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly system: string | undefined;
  readonly streaming: boolean;
}

/** How what comes back in a wire format is read. */
export interface ChatReading {
  /** Whether a body or an event is one of this format. */
  readonly owns: (data: JsonObject) => boolean;
  /** A whole answer. */
  readonly whole: (body: JsonObject, draft: ChatDraft) => void;
  /** One event of a stream. */
  readonly event: (data: JsonObject, draft: ChatDraft) => void;
}

/** A wire format that people can ask in. */
export interface ChatFormat extends ChatReading {
  /** Path and query, below the address of the models. */
  readonly path: (question: Question) => string;
  readonly body: (question: Question) => JsonObject;
  /** The headers that its clients send, with the key where there is one. */
  readonly headers: (key: string | undefined) => readonly (readonly [name: string, value: string])[];
}
