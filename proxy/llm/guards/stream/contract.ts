import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';

/** What some guard looks at. */
export type Scopes = ReadonlySet<ContentScope>;

/** An event in the client's format. */
export interface StreamEvent {
  readonly name: string | null;
  readonly data: JsonObject;
}

/** Text that an event adds to one of the texts of the stream, or its end. */
export interface Piece {
  /** Which text: one for each choice, block, part or candidate, and each call. */
  readonly channel: string;
  /** What the text is; of a channel always the same. */
  readonly scope: ContentScope;
  readonly text: string;
  /** The text is complete with it. */
  readonly final: boolean;
}

/** What an event has of texts. */
export interface Reading {
  readonly pieces: readonly Piece[];
  /**
   * The events that leave instead, given what may leave of each piece's text by now: more than the piece when some was
   * held back before, less when some is held back now.
   */
  write(released: readonly string[]): readonly StreamEvent[];
}

/** Where texts stand in the events of one format. Made for each stream: remembers which texts are open. */
export interface EventTexts {
  /** Null for an event that has nothing to do with texts. */
  read(event: StreamEvent): Reading | null;
  /** The stream ends: ends every text that is open. Null when none is. */
  finish(): Reading | null;
  /** What every event that leaves goes through, in order. */
  seal?(event: StreamEvent): StreamEvent;
  /** What a client gets in the place of what is blocked. */
  blocked(message: string, status: number): StreamEvent;
}
