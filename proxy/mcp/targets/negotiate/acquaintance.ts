import { FIRST_MODERN_VERSION, LATEST_LEGACY_VERSION, type Era } from '../../message/versions.ts';
import type { RpcRequest } from '../../message/message.ts';
import type { TargetCall, TargetFailure } from '../contract.ts';
import { attempt } from './ask.ts';
import { type Hello, helloIn, helloOf, meet, type Peer } from './handshake.ts';
import { introduce } from './introduction.ts';
import { Opening } from './opening.ts';
import type { PeerParts } from './peer-parts.ts';
import type { Relay } from './relay.ts';
import { eraFor, inVersion, legacyVersion } from './words.ts';
import type { Wishes } from './wishes.ts';

/** What somebody wants to meet the target for; without a message, what it tells of itself is wanted. */
export interface Meeting {
  readonly call: TargetCall;
  readonly era: Era;
  readonly relay: Relay;
  readonly message?: RpcRequest;
}

/** What the two sides of a conversation know of each other, and how they come to know it. */
export class Acquaintance {
  readonly #parts: PeerParts;
  readonly #wishes: Wishes;
  #peer: Peer | null;
  #opening: Opening | null = null;
  #hello: Hello;
  /** The client's own `initialize` is what the target has heard. */
  #introduced: boolean;
  /** The session was begun elsewhere: what its client is and had asked for is not known here. */
  #stranger: boolean;

  constructor(parts: PeerParts, wishes: Wishes) {
    this.#parts = parts;
    this.#wishes = wishes;
    // Whoever has a session id has been through the handshake.
    const resumed = parts.state?.session !== undefined;
    this.#peer = resumed ? { kind: 'peer', era: 'legacy', version: '', told: null } : null;
    this.#introduced = resumed;
    this.#stranger = resumed;
    this.#hello = { clientInfo: { ...parts.options.identity }, capabilities: {}, version: LATEST_LEGACY_VERSION };
  }

  /** The client, as targets are told. */
  get hello(): Hello {
    return this.#hello;
  }

  get introduced(): boolean {
    return this.#introduced;
  }

  /** The other side; null as long as nothing is known of it. */
  get peer(): Peer | null {
    return this.#peer;
  }

  /** Whether a request can be sent at once. There is no handshake with modern targets, and most conversations are one request long. */
  known(era: Era): Peer | null {
    const modern = era === 'modern' && this.#opening === null && this.#parts.knowledge.speaks('modern') === true;
    if (modern) this.#peer ??= { kind: 'peer', era: 'modern', version: FIRST_MODERN_VERSION, told: null };
    return this.#peer;
  }

  /** After a handshake under way. */
  async settled(): Promise<Peer | null> {
    if (this.#opening !== null) await this.#opening.met;
    return this.#peer;
  }

  /** The peer is not what it was. False where it cannot be met again, since what its client is like is not known here. */
  forget(peer: Peer): boolean {
    if (this.#stranger) return false;
    if (this.#peer === peer) this.#peer = null;
    return true;
  }

  /** The conversation is over. */
  end(): Peer | null {
    this.#opening?.cancel();
    const peer = this.#peer;
    this.#peer = null;
    return peer;
  }

  leave(): void {
    this.#opening?.cancel();
  }

  /** The client's own `initialize`. */
  introduce(message: RpcRequest, call: TargetCall, relay: Relay): void {
    const { name, connection, knowledge, options } = this.#parts;
    this.#hello = helloOf(message.params, options.answers);
    this.#introduced = false;
    this.#stranger = false;
    this.#peer = null;
    introduce({
      name,
      connection,
      knowledge,
      answers: options.answers,
      message,
      call,
      relay,
      met: (peer) => {
        this.#met(peer);
        this.#introduced = true;
      },
      meet: () => this.meet({ call, era: 'modern', relay }),
    });
  }

  async meet(meeting: Meeting): Promise<Peer | TargetFailure> {
    const own = this.#opening === null;
    const opening = (this.#opening ??= new Opening(meeting.call, (stop) => this.#open(meeting, stop)));
    const met = await opening.join(meeting.relay);
    // Whoever began it has left, and it broke for that alone.
    const again = met.kind !== 'peer' && !own && opening.call.exchange.clientGone && !meeting.relay.over;
    return again ? this.meet(meeting) : met;
  }

  async #open({ call, era, message }: Meeting, stop: AbortSignal): Promise<Peer | TargetFailure> {
    const hello =
      era === 'modern' && message !== undefined ? helloIn(message.params, this.#hello) : this.#helloFor(call);
    const { connection, knowledge, options, transport } = this.#parts;
    const curious = message === undefined;
    const { clock } = options;
    const peer = await meet(era, { connection, transport, knowledge, call, hello, curious, clock, stop });
    if (peer.kind === 'peer' && peer.era === 'legacy') await this.#restore(call, peer);
    this.#opening = null;
    if (peer.kind === 'peer') this.#met(peer);
    return peer;
  }

  #met(peer: Peer): void {
    this.#peer = peer;
    this.#parts.options.onMet?.(peer.version, peer.told);
  }

  #helloFor(call: TargetCall): Hello {
    return eraFor(call) === 'legacy' && call.version !== null && !this.#introduced
      ? { ...this.#hello, version: legacyVersion(call.version) }
      : this.#hello;
  }

  /** What the client had asked the session to be like. */
  async #restore(call: TargetCall, peer: Peer): Promise<void> {
    for (const request of this.#wishes.requests())
      await attempt(this.#parts.connection, request, inVersion(call, peer));
  }
}
