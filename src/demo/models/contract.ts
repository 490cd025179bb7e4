import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../admin/protocol/lenient.ts';
import type { Asked, Reply } from './reply.ts';

/** A reply that is an answer. */
export type Answered = Exclude<Reply, { kind: 'fail' }>;

/** One event of a stream as it is sent. */
export interface SentEvent {
  readonly name?: string;
  /** A string is sent as it is. */
  readonly data: JsonObject | string;
}

/** One vendor: its paths, its key and its way to write things down. */
export interface Vendor {
  /** The key that it wants, and where it looks for it. */
  readonly key: string;
  readonly keyOf: (request: IncomingMessage) => string | undefined;
  /** Undefined for a path that it does not have. */
  readonly read: (path: string, body: JsonObject) => Asked | undefined;
  readonly whole: (asked: Asked, reply: Answered) => JsonObject;
  readonly events: (asked: Asked, reply: Answered) => readonly SentEvent[];
  readonly error: (status: number, message: string) => JsonObject;
}
