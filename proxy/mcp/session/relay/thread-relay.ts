import type { LastingState } from '../../../policy/contract.ts';
import type { Peers } from '../../../supervisor/data-plane.ts';
import type { TargetConnection } from '../../targets/contract.ts';
import type { SessionOwner } from '../id.ts';
import type { Place } from './messages.ts';
import { OwnedSessions, type OwnedStore } from './owned-sessions.ts';
import { OwnerWay } from './owner-way.ts';
import { RemoteConnection } from './remote-connection.ts';

/** The data threads of this process. */
export interface ThreadPeers extends Peers {
  readonly count: number;
}

/** What one data thread has to do with sessions of the others, in both directions. */
export class ThreadRelay implements LastingState {
  /** This thread. */
  readonly self: SessionOwner;
  readonly #peers: ThreadPeers;
  readonly #owned = new OwnedSessions();
  readonly #ways = new Map<number, OwnerWay>();

  constructor(self: SessionOwner, peers: ThreadPeers) {
    this.self = self;
    this.#peers = peers;
    peers.onMet((port) => this.#owned.serve(port));
  }

  /**
   * Lets other threads go on with the sessions of a backend as soon as the configuration being compiled is live. `backend` is
   * the same in all threads, and another one for another definition.
   */
  offer(backend: string, store: OwnedStore): void {
    this.#owned.offer(backend, store);
  }

  /**
   * The thread of this process that a session of this home lives in, or is taken up in when its home is gone; null where it
   * can only have been this one, which does not know it any more.
   */
  placeOf(id: string, { process, thread, life }: SessionOwner): number | null {
    const { self } = this;
    if (process !== self.process) return hashOf(id) % this.#peers.count;
    return thread === self.thread && life === self.life ? null : thread;
  }

  /** A conversation of a thread that is reached. */
  connect(thread: number, at: Place): TargetConnection {
    return new RemoteConnection(() => this.#wayTo(thread), at);
  }

  settled(): void {
    this.#owned.settle();
  }

  /** No backend is left. */
  retired(): void {
    this.#owned.settle();
  }

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

/** Every thread comes to the same number. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
