import type { ContentScope, Guard, Rejection } from '../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { TextFormat } from './text/contract.ts';

export type GuardKind = Guard['kind'];

export type Phase = 'request' | 'response';

/** A body that guards look at, in the client's format. */
export interface Subject {
  readonly exchange: Exchange;
  readonly phase: Phase;
  readonly format: TextFormat;
  readonly body: JsonObject;
  /** Of the message that the body belongs to. */
  readonly headers: Headers;
}

/** What a guard says of a body. `what` tells traces which rule or service says so, never the text that it found. */
export type Verdict =
  | { readonly kind: 'pass' }
  /** The request is only explained, and whoever knows is not asked. */
  | { readonly kind: 'unasked' }
  | { readonly kind: 'mask'; readonly body: JsonObject; readonly what: string }
  | ({ readonly kind: 'reject'; readonly what: string } & OwnAnswer);

/** What a service wants the client to see instead of what is configured. */
export interface OwnAnswer {
  readonly status?: number | undefined;
  readonly body?: string | undefined;
}

/** What a guard did, as metrics count it. */
export type Action = 'Allow' | 'Mask' | 'Reject' | 'FailOpen';

/** One guard, compiled. */
export interface Check {
  readonly kind: GuardKind;
  readonly rejection: Rejection;
  /** Whether a text passes when the guard cannot tell; of streams, services other than webhooks let it pass. */
  readonly failOpen: boolean;
  readonly failOpenOnStreams: boolean;
  /** What it looks at. */
  readonly scopes: ReadonlySet<ContentScope>;
  /** What it says is recorded, and nothing is done. */
  readonly audit: boolean;
  /** A promise only when somebody is asked. Rejects when no verdict was to be had. */
  judge(subject: Subject): Verdict | Promise<Verdict>;
  /** Looks at one text of a stream, from its beginning to its end. `scope` says what the text is. */
  stage(watch: StreamWatch, scope: ContentScope): Stage;
}

/** The stream that a guard looks at. */
export interface StreamWatch {
  readonly exchange: Exchange;
  /** Of the upstream's response. */
  readonly headers: Headers;
  /** Aborted when the stream is over. */
  readonly signal: AbortSignal;
  /** Told once for each decision; `what` as in a verdict. */
  report(action: Action, what: string): void;
}

/** Takes the pieces of one text in order; gives what may leave. */
export interface Stage {
  /** `final`: nothing follows, and nothing may be held back. Throws, or rejects with, a `Blocked`. */
  push(piece: string, final: boolean): string | Promise<string>;
}

/** The text must not go on. The message is for the client. */
export class Blocked extends Error {
  override readonly name = 'Blocked';
  /** The status that a whole answer would have had. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** The request is over before there was a verdict: its client left, or its time is up. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** A service that gave no verdict. The message is for logs and traces. */
export class GuardFailure extends Error {
  override readonly name = 'GuardFailure';
}
