import type { TraceEvent } from '../../../../src/admin/protocol/trace-event.ts';
import { BEGUN_BY_ANOTHER } from '../principal.ts';
import type { RelayedCall } from './relayed-call.ts';
import type { SentFailure } from './sent-failure.ts';

/** One conversation of one session in its owner. */
export interface Place {
  /** Definition of the backend; see `ThreadRelay.offer`. */
  readonly backend: string;
  /** The session's id, as its client has it. */
  readonly session: string;
  readonly target: string;
}

/**
 * What a thread says to the owner of a session. Messages of the protocol go as text: some of their numbers are only
 * whole as text.
 */
export type ToOwner =
  | {
      readonly kind: 'say';
      readonly id: number;
      readonly at: Place;
      readonly text: string;
      readonly call: RelayedCall;
    }
  | { readonly kind: 'listen'; readonly id: number; readonly at: Place; readonly call: RelayedCall }
  | { readonly kind: 'close'; readonly id: number; readonly at: Place; readonly call: RelayedCall }
  | { readonly kind: 'cancel' | 'pause' | 'resume'; readonly id: number };

/** What the owner says of one of these, by its id; of the call itself nothing comes after `end`. */
export type FromOwner =
  | { readonly kind: 'open'; readonly id: number }
  | { readonly kind: 'message'; readonly id: number; readonly text: string }
  | { readonly kind: 'end'; readonly id: number; readonly failure: SentFailure | null }
  /** For the trace of the request that asked; may come when the rest has ended, up to `traced`. */
  | { readonly kind: 'trace'; readonly id: number; readonly event: TraceEvent }
  | { readonly kind: 'traced'; readonly id: number };

/** One end of the way between two threads; a `MessagePort`. */
export interface Way<Out, In> {
  postMessage(message: Out): void;
  on(event: 'message', listener: (message: In) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  unref(): void;
  close(): void;
}

export const notTheirs = { kind: 'forgotten', message: BEGUN_BY_ANOTHER } as const;
export const gone = { kind: 'forgotten', message: 'the thread that had the session knows it no more' } as const;
