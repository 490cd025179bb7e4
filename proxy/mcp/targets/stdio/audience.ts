import type { JsonObject, JsonValue } from '../../../../src/shared/json.ts';
import { metaOf, withMeta } from '../../message/meta.ts';
import type { RequestId, RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import type { CallSink, TargetFailure } from '../contract.ts';
import { Outlet } from './outlet.ts';

/** One request that a program has been asked. */
export interface Asked {
  /** The client's own id; the program gets another, as clients may use one twice. */
  readonly id: RequestId;
  readonly method: string;
  readonly progressToken: JsonValue | undefined;
  readonly outlet: Outlet;
}

/** Messages that come while nobody listens are kept, up to so many. */
const BACKLOG_MESSAGES = 64;
const BACKLOG_BYTES = 2 ** 20;
const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';
/** About the program as a whole, and not about what it is asked at the moment. */
const GENERAL =
  /^notifications\/(?:(?:tools|prompts|resources|roots)\/list_changed|resources\/updated|tasks(?:\/.*)?)$/;

/** Who hears what one program says: a pipe does not tell which request a message is about. */
export class Audience {
  readonly #asked = new Map<number, Asked>();
  readonly #onRoom: () => void;
  #ids = 0;
  #listener: Outlet | null = null;
  #backlog: { readonly message: RpcMessage; readonly bytes: number }[] = [];
  #backlogBytes = 0;

  /** `onRoom` is called when `full` may have become false. */
  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  /** Whether the program has to wait: a client does not take what is there, or nobody is there. */
  get full(): boolean {
    for (const { outlet } of this.#asked.values()) if (outlet.full) return true;
    if (this.#asked.size > 0 || this.#listener !== null) return false;
    return this.#backlog.length >= BACKLOG_MESSAGES || this.#backlogBytes >= BACKLOG_BYTES;
  }

  /** Nobody waits, nobody listens. */
  get empty(): boolean {
    return this.#asked.size === 0 && this.#listener === null;
  }

  /** Returns the id for the program. */
  ask(message: RpcRequest, sink: CallSink): { readonly id: number; readonly outlet: Outlet } {
    this.#ids += 1;
    const id = this.#ids;
    const outlet = new Outlet(sink, this.#onRoom);
    const progressToken = metaOf(message.params)?.['progressToken'];
    this.#asked.set(id, { id: message.id, method: message.method, progressToken, outlet });
    return { id, outlet };
  }

  /** The request was withdrawn; false when there is none, or no more. */
  withdraw(id: number): boolean {
    const asked = this.#asked.get(id);
    if (asked === undefined) return false;
    this.#asked.delete(id);
    asked.outlet.close();
    this.#onRoom();
    return true;
  }

  /** The program's id of a request that the client knows by this id. */
  idOf(clientId: JsonValue | undefined): number | null {
    for (const [id, asked] of this.#asked) if (asked.id === clientId) return id;
    return null;
  }

  /** There is one listener; an earlier one ends. */
  listen(sink: CallSink): Outlet {
    this.#listener?.end(null);
    const outlet = new Outlet(sink, this.#onRoom);
    this.#listener = outlet;
    const backlog = this.#backlog;
    this.#backlog = [];
    this.#backlogBytes = 0;
    for (const { message, bytes } of backlog) outlet.push(message, bytes);
    this.#onRoom();
    return outlet;
  }

  leave(outlet: Outlet): void {
    outlet.close();
    if (this.#listener === outlet) this.#listener = null;
    this.#onRoom();
  }

  /** A message of the program, of so many bytes; false when nobody is meant. */
  hear(message: RpcMessage, bytes: number): boolean {
    if (message.kind === 'result' || message.kind === 'error') return this.#answer(message, bytes);
    const related = message.kind === 'notification' ? this.#related(message) : null;
    if (related !== null) {
      related.outlet.push(related.message, bytes);
      return true;
    }
    return this.#tell(message, bytes);
  }

  /** Every call and the listener end. */
  end(failure: TargetFailure): void {
    const asked = [...this.#asked.values()];
    const listener = this.#listener;
    this.#asked.clear();
    this.#listener = null;
    this.#backlog = [];
    this.#backlogBytes = 0;
    for (const { outlet } of asked) outlet.end(failure);
    listener?.end(failure);
  }

  #answer(message: RpcAnswer, bytes: number): boolean {
    if (message.id === null) return this.#tell(message, bytes);
    const asked = typeof message.id === 'number' ? this.#asked.get(message.id) : undefined;
    if (asked === undefined || typeof message.id !== 'number') return false;
    this.#asked.delete(message.id);
    asked.outlet.push({ ...message, id: asked.id }, bytes);
    asked.outlet.end(null);
    return true;
  }

  /** The call that a notification names: by its progress token, or as the subscription that it belongs to. */
  #related(message: RpcNotification): { readonly outlet: Outlet; readonly message: RpcNotification } | null {
    const { params } = message;
    const subscription = metaOf(params)?.[SUBSCRIPTION_META];
    if (subscription !== undefined) {
      const asked =
        typeof subscription === 'string' || typeof subscription === 'number'
          ? this.#asked.get(Number(subscription))
          : undefined;
      if (asked === undefined) return null;
      return {
        outlet: asked.outlet,
        message: { ...message, params: withMeta(params, { [SUBSCRIPTION_META]: asked.id }) },
      };
    }
    const token = tokenOf(message.method, params);
    if (token === undefined) return null;
    for (const asked of this.#asked.values())
      if (asked.progressToken === token) return { outlet: asked.outlet, message };
    return null;
  }

  #tell(message: RpcMessage, bytes: number): boolean {
    const general = message.kind === 'notification' && GENERAL.test(message.method);
    const outlet = general ? (this.#listener ?? this.#newest()) : (this.#newest() ?? this.#listener);
    if (outlet === null) return this.#keep(message, bytes);
    outlet.push(message, bytes);
    // A stream that is open but not read must not hold up the answers to calls.
    if (outlet === this.#listener && outlet.full) {
      this.#listener = null;
      outlet.end({ kind: 'broken', message: 'the client does not read what the program tells it' });
    }
    return true;
  }

  #keep(message: RpcMessage, bytes: number): boolean {
    if (this.#backlog.length >= BACKLOG_MESSAGES || this.#backlogBytes >= BACKLOG_BYTES) return false;
    this.#backlog.push({ message, bytes });
    this.#backlogBytes += bytes;
    return true;
  }

  #newest(): Outlet | null {
    let newest: Outlet | null = null;
    for (const { outlet } of this.#asked.values()) newest = outlet;
    return newest;
  }
}

function tokenOf(method: string, params: JsonObject | undefined): JsonValue | undefined {
  return method === 'notifications/progress' ? params?.['progressToken'] : undefined;
}
