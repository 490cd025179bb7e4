import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts';
import { withoutClientFeatures } from '../message/meta.ts';
import type { RequestId, RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { ClientCall, McpSession } from '../session/contract.ts';
import type { CallSink, Calling, TargetConnection, TargetFailure, TargetState } from '../targets/contract.ts';
import { callEverybody } from './calls/everybody.ts';
import { callItem, callReference, type ItemCall } from './calls/item.ts';
import { ListCache } from './list-cache.ts';
import { forwarded, nobodyThere, settled, targetCall, type Members } from './members.ts';
import type { Plan } from './plan.ts';
import { post } from './post.ts';
import { routeOf } from './route.ts';
import { MergedStream } from './streams.ts';
import { listenAll } from './subscriptions.ts';

/** What a session knows of its target that another thread needs. */
export interface MemberState {
  readonly target: string;
  /** Null where nobody but this thread can go on with it. */
  readonly state: TargetState | null;
}

export interface SessionParts {
  readonly plan: Plan;
  /** By position of the target; null for conversations that begin anew. */
  readonly states: readonly (TargetState | null)[] | null;
  /** Of a session that goes on. */
  readonly id: string | null;
  /** Makes the id once all targets have answered `initialize`; null without sessions. */
  readonly identify: ((members: readonly MemberState[]) => string) | null;
  /** Conversations of another thread, by the name of the target; null where this thread has its own. */
  readonly connect: ((target: string) => TargetConnection) | null;
}

/** Of one session at a time: each is one at every target. */
const MAX_STREAMS = 32;

/** A request that the client waits for. */
interface Waiting {
  readonly calling: () => Calling | null;
  readonly sink: CallSink;
}

/** Several targets, in one conversation with one client. */
export class FederatedSession implements McpSession, Members {
  readonly lists: ListCache;
  readonly #connections: (TargetConnection | null)[];
  readonly #states: readonly (TargetState | null)[] | null;
  readonly #identify: SessionParts['identify'];
  readonly #connect: SessionParts['connect'];
  /** Nothing keeps a client from using an id twice at a time. */
  readonly #waiting = new Map<RequestId, readonly Waiting[]>();
  readonly #streams = new Set<Waiting>();
  /** It is a session that outlives its first request. */
  readonly #kept: boolean;
  #plan: Plan;
  #id: string | null;
  #version: string | null = null;
  #closed = false;

  constructor(parts: SessionParts) {
    this.#plan = parts.plan;
    this.#kept = parts.id !== null || parts.identify !== null;
    this.lists = this.#kept ? new ListCache(parts.plan.budget) : parts.plan.lookUps;
    this.#states = parts.states;
    this.#id = parts.id;
    this.#identify = parts.identify;
    this.#connect = parts.connect;
    this.#connections = parts.plan.targets.map(() => null);
  }

  get plan(): Plan {
    return this.#plan;
  }

  get id(): string | null {
    return this.#id;
  }

  get version(): string | null {
    return this.#version;
  }

  /** Rules, processors and modes of a newer configuration; the conversations stay as they are. */
  adopt(plan: Plan): void {
    const same = plan.targets.length === this.#plan.targets.length;
    const names = plan.targets.every(({ name }, at) => name === this.#plan.targets[at]?.name);
    if (same && names) this.#plan = plan;
  }

  /** Conversations as they stand. */
  members(): readonly MemberState[] {
    return this.#plan.targets.map(({ name }, at) => ({ target: name, state: this.#connections[at]?.state ?? null }));
  }

  /** Names of the targets that have a session of their own for this one, or a program that runs for it. */
  withTargets(): readonly string[] {
    const has = (at: number): boolean => {
      const connection = this.#connections[at] ?? null;
      // Where there is nothing to tell others, it is held by this thread itself.
      if (connection !== null && connection.state === null) return true;
      return (connection?.state ?? this.#states?.[at])?.session !== undefined;
    };
    return this.#plan.targets.flatMap(({ name }, at) => (has(at) ? [name] : []));
  }

  connection(target: number): TargetConnection | TargetFailure {
    const open = this.#closed ? null : this.#connections[target];
    if (open !== null && open !== undefined) return open;
    const to = this.#plan.targets[target];
    if (to === undefined || this.#closed) return { kind: 'broken', message: 'the session has ended' };
    try {
      const opened = this.#connect?.(to.name) ?? to.connect(this.#states?.[target] ?? null, !this.#kept);
      return (this.#connections[target] = opened);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'refused', status: 500, reason: 'MCP', message: `target ${to.name} cannot be set up: ${reason}` };
    }
  }

  heard(target: number, notification: RpcNotification): void {
    this.lists.heard(target, notification.method);
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    if (this.#plan.targets.length === 0 && message.method !== 'initialize') return nobody(sink);
    // Only what a later message can refer to is kept: without a session there is none.
    if (this.#id !== null) return this.#remembered(message, call, sink);
    const over = this.#identify === null ? null : () => this.#discard(call);
    return this.#dispatch({ members: this, message, call, sink, over });
  }

  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    const sent = post(this, message, call);
    const cancelled = message.kind === 'notification' && message.method === 'notifications/cancelled';
    if (cancelled) this.#forget(message.params?.['requestId']);
    return sent;
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    const stream = new MergedStream(this, call, sink, () => this.#streams.delete(waiting));
    const waiting: Waiting = { calling: () => stream, sink };
    // A client that has lost its connection opens another one before the first is known to be gone.
    const [oldest] = this.#streams;
    if (oldest !== undefined && this.#streams.size >= MAX_STREAMS) stop(oldest);
    this.#streams.add(waiting);
    return stream.start();
  }

  close(call: ClientCall | null): Promise<void> {
    // What was begun elsewhere is ended too, though nothing may have been said to it from here.
    const begunElsewhere = this.#states !== null || this.#connect !== null;
    if (call !== null && begunElsewhere) for (const target of this.#connections.keys()) this.connection(target);
    return this.#end((connection, target) =>
      connection.close(call === null ? null : targetCall(this, target, call, forwarded(call))),
    );
  }

  /** Nothing is left here of it; targets are told nothing where somebody else may go on. */
  leave(): Promise<void> {
    return this.#end((connection) => Promise.resolve(connection.leave()));
  }

  async #end(how: (connection: TargetConnection, target: number) => Promise<unknown>): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const waiting of [...[...this.#waiting.values()].flat(), ...this.#streams]) stop(waiting);
    if (this.#kept) this.lists.clear();
    const ends = this.#connections.map((connection, target) => (connection === null ? null : how(connection, target)));
    // A target that cannot be told has forgotten, or will.
    await Promise.allSettled(ends);
  }

  /** What targets have said of themselves when the conversation began. */
  introduced(target: number, result: JsonObject): void {
    const capabilities = result['capabilities'];
    if (!isJsonObject(capabilities)) return;
    const tells = (name: string): boolean =>
      isJsonObject(capabilities[name]) && capabilities[name]['listChanged'] === true;
    if (tells('tools')) this.lists.announces(target, 'tools/list');
    if (tells('prompts')) this.lists.announces(target, 'prompts/list');
    if (!tells('resources')) return;
    this.lists.announces(target, 'resources/list');
    this.lists.announces(target, 'resources/templates/list');
  }

  /** The client is about to be told; from here on the session has an id. */
  began(result: JsonObject): void {
    const version = result['protocolVersion'];
    if (typeof version === 'string') this.#version = version;
    if (this.#id === null && this.#identify !== null) this.#id = this.#identify(this.members());
  }

  #dispatch(item: ItemCall): Calling {
    const route = routeOf(item.message.method);
    switch (route?.kind) {
      case 'item':
        return callItem(item, route);
      case 'reference':
        return callReference(item);
      case 'listen':
        return listenAll(item);
      case 'initialize':
        return callEverybody(this, this.#offered(item), route);
      default:
        return callEverybody(this, item, route);
    }
  }

  /** Without a session nobody can ask the client something on the way to an answer. */
  #offered(item: ItemCall): ItemCall {
    if (this.#plan.stateful) return item;
    const { method, params } = item.message;
    return { ...item, message: { ...item.message, params: withoutClientFeatures(method, params) } };
  }

  #remembered(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    let calling: Calling | null = null;
    const waiting: Waiting = { calling: () => calling, sink };
    const { id } = message;
    const waitingFor = (): readonly Waiting[] => this.#waiting.get(id) ?? [];
    this.#waiting.set(id, [...waitingFor(), waiting]);
    const over = (): void => {
      const others = waitingFor().filter((other) => other !== waiting);
      if (others.length > 0) this.#waiting.set(id, others);
      else this.#waiting.delete(id);
    };
    return (calling = this.#dispatch({ members: this, message, call, sink, over }));
  }

  /** The handshake is over. When it has failed, targets that did answer have begun what nobody goes on with. */
  #discard(call: ClientCall): void {
    if (this.#id === null) void this.close(call);
  }

  /** The client wants no answer any more, and targets that heed that give none: its stream must not stay open. */
  #forget(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    for (const waiting of this.#waiting.get(id) ?? []) stop(waiting);
  }
}

/** Nothing more comes, and nobody is to blame. */
function stop({ calling, sink }: Waiting): void {
  const own = calling();
  if (own === null) return;
  own.cancel();
  sink.onEnd(null);
}

function nobody(sink: CallSink): Calling {
  sink.onEnd(nobodyThere);
  return settled;
}
