import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';

/** Is given each text that is looked at, gives what takes its place; the same text leaves everything as it was. */
export type Visit = (text: string, scope: ContentScope) => string;

/** A message as guard services see it. */
export interface FlatMessage {
  readonly role: string;
  readonly content: string;
}

/** Where texts stand in the bodies of one format. Bodies are never changed: what changes is made anew, the rest is shared. */
export interface TextFormat {
  /** The body itself when no text changed. */
  mapRequest(body: JsonObject, visit: Visit): JsonObject;
  mapResponse(body: JsonObject, visit: Visit): JsonObject;
  /** System prompt and messages, without what is no text. */
  messages(body: JsonObject): readonly FlatMessage[];
  /** The request with other messages; calls of tools, images and the like go with the old ones. */
  withMessages(body: JsonObject, messages: readonly FlatMessage[]): JsonObject;
  /** What the model has said, one text for each alternative or block. */
  choices(body: JsonObject): readonly FlatMessage[];
  /** The answer with other texts, as many as `choices` gives. */
  withChoices(body: JsonObject, choices: readonly FlatMessage[]): JsonObject;
}
