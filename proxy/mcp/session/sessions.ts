import type { Refusal } from '../../exchange/refusal.ts';
import type { Federation } from '../federation/federation.ts';
import type { FederatedSession, MemberState, SessionParts } from '../federation/session.ts';
import type { OpenSession, SessionsRecord } from '../records/sessions-record.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, TargetConnection, TargetFailure } from '../targets/contract.ts';
import type { ClientCall, McpSession, McpSessions } from './contract.ts';
import { FollowedSession } from './followed.ts';
import { LoneConversation } from './lone.ts';
import type { SessionIds, SessionOwner } from './id.ts';
import type { OwnedSession } from './relay/owned-sessions.ts';
import type { ThreadRelay } from './relay/thread-relay.ts';
import type { SessionStore } from './store.ts';

export interface BackendSessionsOptions {
  readonly federation: Federation;
  readonly ids: SessionIds;
  readonly store: SessionStore<KeptConversation>;
  /** Of this data thread. */
  readonly relay: ThreadRelay;
  /** Key of the backend. */
  readonly backend: string;
  /** Where open sessions are counted. */
  readonly census?: SessionsRecord | undefined;
}

/** The sessions of one MCP backend under one configuration; those that are kept are its predecessor's too. */
export class BackendSessions implements McpSessions {
  readonly #options: BackendSessionsOptions;

  constructor(options: BackendSessionsOptions) {
    this.#options = options;
  }

  get stateful(): boolean {
    return this.#options.federation.plan.stateful;
  }

  begin(): McpSession | Refusal {
    const { federation, store } = this.#options;
    let opened: FederatedSession | null = null;
    const identify = (members: readonly MemberState[]): string => {
      const id = this.#idOf(members);
      if (opened !== null) store.keep(id, new KeptConversation(opened, id, this.#kept(false)));
      return id;
    };
    const session = federation.open({ identify });
    if ('reason' in session) return session;
    opened = session;
    return new FollowedSession(session);
  }

  alone(): McpSession | Refusal {
    const session = this.#options.federation.open();
    return 'reason' in session ? session : new FollowedSession(new LoneConversation(session));
  }

  find(id: string): McpSession | 'undecodable' | 'unknown' {
    const { federation, ids, store } = this.#options;
    const kept = store.find(id);
    if (kept !== null) return new FollowedSession(kept.under(federation.plan));
    const facts = ids.decode(id);
    if (typeof facts === 'string') return facts;
    // Programs and event streams are in the thread that began them.
    if (facts.owner !== null) return this.#relayed(id, facts.owner);
    const { states } = facts;
    return this.#goOn(id, { states: federation.plan.targets.map(({ name }) => states.get(name) ?? null) });
  }

  #relayed(id: string, owner: SessionOwner): McpSession | 'unknown' {
    const { relay, backend } = this.#options;
    if (!relay.reaches(owner)) return 'unknown';
    return this.#goOn(id, { connect: (target) => relay.connect(owner, { backend, session: id, target }) });
  }

  #goOn(id: string, parts: Partial<Pick<SessionParts, 'states' | 'connect'>>): McpSession | 'unknown' {
    const { federation, store } = this.#options;
    const session = federation.open({ id, ...parts });
    if ('reason' in session) return 'unknown';
    const kept = new KeptConversation(session, id, this.#kept(parts.connect !== undefined));
    store.keep(id, kept);
    return new FollowedSession(kept);
  }

  #kept(elsewhere: boolean): Keeping {
    const { store, census } = this.#options;
    return { store, census, elsewhere };
  }

  #idOf(members: readonly MemberState[]): string {
    const { ids, relay, backend, store } = this.#options;
    const states = new Map(members.map(({ target, state }) => [target, state]));
    if (members.every(({ state }) => state !== null)) return ids.encode(states, null);
    relay.offer(backend, store);
    return ids.encode(states, relay.self);
  }
}

interface Keeping extends Pick<BackendSessionsOptions, 'store' | 'census'> {
  /** Another thread has the session. */
  readonly elsewhere: boolean;
}

/** A session that is kept: it does not lie idle while something of it is under way. */
export class KeptConversation implements McpSession, OwnedSession, OpenSession {
  readonly id: string;
  readonly elsewhere: boolean;
  readonly #session: FederatedSession;
  readonly #store: SessionStore<KeptConversation>;
  readonly #census: SessionsRecord | undefined;

  constructor(session: FederatedSession, id: string, { store, census, elsewhere }: Keeping) {
    this.#session = session;
    this.id = id;
    this.elsewhere = elsewhere;
    this.#store = store;
    this.#census = census;
    census?.began(this);
  }

  withTargets(): readonly string[] {
    return this.#session.withTargets();
  }

  /** As a newer configuration wants it. */
  under(plan: Federation['plan']): this {
    this.#session.adopt(plan);
    return this;
  }

  connection(target: string): TargetConnection | null {
    const at = this.#session.plan.targets.findIndex(({ name }) => name === target);
    const connection = at === -1 ? null : this.#session.connection(at);
    return connection === null || 'kind' in connection ? null : connection;
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    return this.#held('call', sink, (held) => this.#session.request(message, call, held));
  }

  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    return this.#session.post(message, call);
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    return this.#held('stream', sink, (held) => this.#session.listen(call, held));
  }

  /** By the client, or, without a call, because nobody uses it any more. */
  close(call: ClientCall | null = null): Promise<void> {
    if (call !== null) this.#store.remove(this.id);
    this.#census?.over(this, call !== null);
    return this.#session.close(call);
  }

  #held(what: 'call' | 'stream', sink: CallSink, begin: (sink: CallSink) => Calling): Calling {
    const release = this.#store.hold(this.id, what);
    const calling = begin({
      onOpen: () => sink.onOpen?.(),
      onMessage: (message) => sink.onMessage(message),
      onEnd: (failure) => {
        release();
        sink.onEnd(failure);
      },
    });
    return {
      cancel: () => {
        release();
        calling.cancel();
      },
      pause: () => calling.pause(),
      resume: () => calling.resume(),
    };
  }
}
