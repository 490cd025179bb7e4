import type { LastingState } from '../../../policy/contract.ts';
import type { Peers } from '../../../supervisor/data-plane.ts';
import type { TargetConnection } from '../../targets/contract.ts';
import type { SessionOwner } from '../id.ts';
import type { Place } from './messages.ts';
import { OwnedSessions, type OwnedStore } from './owned-sessions.ts';
import { OwnerWay } from './owner-way.ts';
import { RemoteConnection } from './remote-connection.ts';

/** What one data thread has to do with sessions of the others, in both directions. */
export class ThreadRelay implements LastingState {
  /** This thread. */
  readonly self: SessionOwner;
  readonly #peers: Peers;
  readonly #owned = new OwnedSessions();
  readonly #ways = new Map<number, OwnerWay>();

  constructor(self: SessionOwner, peers: Peers) {
    this.self = self;
    this.#peers = peers;
    peers.onMet((port) => this.#owned.serve(port));
  }

  /** Lets other threads go on with the sessions of a backend. */
  offer(backend: string, store: OwnedStore): void {
    this.#owned.offer(backend, store);
  }

  /** Whether it is another thread of this process. */
  reaches({ process, thread }: SessionOwner): boolean {
    return process === this.self.process && thread !== this.self.thread;
  }

  /** A conversation of a thread that is reached. */
  connect(owner: SessionOwner, at: Place): TargetConnection {
    return new RemoteConnection(() => this.#wayTo(owner.thread), at);
  }

  retired(): void {}

  close(): Promise<void> {
    this.#owned.close();
    for (const way of this.#ways.values()) way.close();
    this.#ways.clear();
    return Promise.resolve();
  }

  #wayTo(thread: number): OwnerWay {
    const open = this.#ways.get(thread);
    if (open !== undefined && !open.closed) return open;
    const way = new OwnerWay(this.#peers.meet(thread));
    this.#ways.set(thread, way);
    return way;
  }
}
