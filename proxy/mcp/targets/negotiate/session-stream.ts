import type { CallSink, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import type { Acquaintance } from './acquaintance.ts';
import { reply } from './ask.ts';
import type { Peer } from './handshake.ts';
import { dropped, explained, losesSession } from './rejection.ts';
import type { Relay } from './relay.ts';
import type { ToModern } from './to-modern.ts';
import { inVersion, unrestorable } from './words.ts';

export interface SessionStreamParts {
  readonly connection: TargetConnection;
  readonly acquaintance: Acquaintance;
  readonly toModern: ToModern;
  readonly call: TargetCall;
  readonly relay: Relay;
  /** Answers of the client find their way back. */
  readonly answers: boolean;
}

/** The stream of a legacy client's session: that of the target's session, or a subscription. */
export class SessionStream {
  readonly #parts: SessionStreamParts;

  constructor(parts: SessionStreamParts) {
    this.#parts = parts;
  }

  /** `retried` where it has been opened anew and nothing has come of it yet. */
  open(retried = false): void {
    const { acquaintance, toModern, call, relay } = this.#parts;
    const { peer } = acquaintance;
    if (peer === null) {
      void acquaintance.meet({ call, era: 'legacy', relay }).then((met) => {
        if (relay.over) return undefined;
        return met.kind === 'peer' ? this.open(retried) : relay.onEnd(met);
      });
    } else if (peer.era === 'modern') relay.carry(toModern.listen(call, acquaintance.hello, relay));
    else this.#listen(peer, retried);
  }

  #listen(peer: Peer, retried: boolean): void {
    const { connection, call, relay, answers } = this.#parts;
    let lasted = false;
    const sink: CallSink = {
      onOpen: () => {
        lasted = true;
        relay.onOpen();
      },
      onMessage: (message) => {
        if (message.kind === 'request' && !answers) reply(connection, message, inVersion(call, peer));
        else relay.onMessage(message);
      },
      onEnd: (failure) => {
        // One that was there may be opened anew each time that the target restarts.
        if (failure === null || (retried && !lasted) || relay.over) relay.onEnd(failure);
        else void explained(failure).then((known) => this.#unheard(known, peer));
      },
    };
    relay.carry(connection.listen(inVersion(call, peer), sink));
  }

  #unheard(failure: TargetFailure, peer: Peer): void {
    const { connection, acquaintance, relay } = this.#parts;
    if (relay.over || !losesSession(failure, connection.state)) {
      relay.onEnd(failure);
      return;
    }
    dropped(failure);
    if (acquaintance.forget(peer)) this.open(true);
    else relay.onEnd(unrestorable);
  }
}
