import type { TargetCall, TargetFailure } from '../contract.ts';
import type { Peer } from './handshake.ts';
import type { Relay } from './relay.ts';

/** A handshake under way, for everybody who comes meanwhile. It is given up when they have all left. */
export class Opening {
  readonly #stop = new AbortController();
  /** On whose behalf it is done. */
  readonly call: TargetCall;
  readonly met: Promise<Peer | TargetFailure>;
  #waiting = 0;

  constructor(call: TargetCall, begin: (stop: AbortSignal) => Promise<Peer | TargetFailure>) {
    this.call = call;
    this.met = begin(this.#stop.signal);
  }

  async join(relay: Relay): Promise<Peer | TargetFailure> {
    this.#waiting += 1;
    relay.onCancel = () => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.cancel();
    };
    const met = await this.met;
    relay.onCancel = null;
    return met;
  }

  cancel(): void {
    this.#stop.abort();
  }
}
