import type { Refusal } from '../../exchange/refusal.ts';
import type { Federation } from '../federation/federation.ts';
import type { FederatedSession, MemberState, SessionParts } from '../federation/session.ts';
import type { OpenSession, SessionsRecord } from '../records/sessions-record.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, TargetConnection, TargetFailure } from '../targets/contract.ts';
import type { ClientCall, McpSession, McpSessions, NoSession } from './contract.ts';
import { FollowedSession } from './followed.ts';
import { LoneConversation } from './lone.ts';
import type { SessionFacts, SessionIds } from './id.ts';
import { foreign, principalOf } from './principal.ts';
import type { OwnedSession, OwnedStore } from './relay/owned-sessions.ts';
import type { ThreadRelay } from './relay/thread-relay.ts';
import type { SessionStore } from './store.ts';

export interface BackendSessionsOptions {
  readonly federation: Federation;
  readonly ids: SessionIds;
  readonly store: SessionStore<KeptConversation>;
  /** Of this data thread. */
  readonly relay: ThreadRelay;
  /** The definition of the backend; see `ThreadRelay.offer`. */
  readonly backend: string;
  /** Where open sessions are counted. */
  readonly census?: SessionsRecord | undefined;
}

/** The sessions of one MCP backend under one configuration; those that are kept are its predecessor's too. */
export class BackendSessions implements McpSessions {
  readonly #options: BackendSessionsOptions;

  constructor(options: BackendSessionsOptions) {
    this.#options = options;
    const { relay, backend } = options;
    relay.offer(backend, this.#offered());
  }

  get stateful(): boolean {
    return this.#options.federation.plan.stateful;
  }

  begin({ exchange }: ClientCall): McpSession | Refusal {
    const { federation, store } = this.#options;
    const principal = principalOf(exchange);
    let opened: FederatedSession | null = null;
    const identify = (members: readonly MemberState[]): string => {
      const id = this.#idOf(members, principal);
      if (opened !== null)
        store.keep(id, new KeptConversation(opened, this.#keeping({ id, principal, begun: true, elsewhere: false })));
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

  find(id: string, { exchange }: ClientCall): McpSession | NoSession {
    const { federation, ids } = this.#options;
    const principal = principalOf(exchange);
    const kept = this.#keptFor(id, principal);
    if (kept === 'foreign') return foreign(exchange);
    if (kept !== null) return new FollowedSession(kept.under(federation.plan));
    const facts = ids.decode(id);
    if (typeof facts === 'string') return facts;
    if (!this.#isFor(facts, principal)) return foreign(exchange);
    const going = this.#goOn(id, facts, principal);
    return going === null ? 'unknown' : new FollowedSession(going);
  }

  /** For other threads: they do not take part in a session of theirs, but in one that lives here. */
  #offered(): OwnedStore {
    const { ids, store } = this.#options;
    return {
      find: (id, exchange) => {
        const principal = principalOf(exchange);
        const kept = this.#keptFor(id, principal);
        if (kept !== null) return kept === 'foreign' ? foreign(exchange) : kept;
        const facts = ids.decode(id);
        if (typeof facts === 'string' || !this.#livesHere(id, facts)) return null;
        return this.#isFor(facts, principal) ? this.#takeUp(id, facts, principal) : foreign(exchange);
      },
      hold: (id, what) => store.hold(id, what),
      end: (id) => store.end(id),
    };
  }

  /** As this thread knows whose it is; being asked for by others is no use. */
  #keptFor(id: string, principal: string | null): KeptConversation | 'foreign' | null {
    const { store } = this.#options;
    const kept = store.peek(id);
    if (kept === null) return null;
    return kept.principal === null || kept.principal === principal ? store.find(id) : 'foreign';
  }

  /** As the id says. */
  #isFor({ client }: SessionFacts, principal: string | null): boolean {
    return client === null || client === this.#options.ids.mark(principal);
  }

  /** What its home does not know any more has ended: it is begun anew nowhere. */
  #goOn(id: string, facts: SessionFacts, principal: string | null): KeptConversation | null {
    if (this.#livesHere(id, facts)) return this.#takeUp(id, facts, principal);
    const { relay, backend } = this.#options;
    const thread = facts.home === null ? null : relay.placeOf(id, facts.home);
    if (thread === null || thread === relay.self.thread) return null;
    const connect = (target: string): TargetConnection => relay.connect(thread, { backend, session: id, target });
    return this.#kept({ id, principal: owned(facts, principal) }, { connect });
  }

  /** Whether this thread is the one that goes on with a session that it has not begun. */
  #livesHere(id: string, { home }: SessionFacts): boolean {
    return home === null || this.#options.relay.placeOf(id, home) === this.#options.relay.self.thread;
  }

  /** Another process, or an earlier life of this thread, has begun it. */
  #takeUp(id: string, facts: SessionFacts, principal: string | null): KeptConversation | null {
    const { federation, store } = this.#options;
    if (facts.bound || store.hasEnded(id)) return null;
    const states = federation.plan.targets.map(({ name }) => facts.states.get(name) ?? null);
    return this.#kept({ id, principal: owned(facts, principal) }, { states });
  }

  #kept(
    { id, principal }: Pick<Keeping, 'id' | 'principal'>,
    parts: Partial<Pick<SessionParts, 'states' | 'connect'>>,
  ): KeptConversation | null {
    const { federation, store } = this.#options;
    const session = federation.open({ id, ...parts });
    if ('reason' in session) return null;
    const elsewhere = parts.connect !== undefined;
    const kept = new KeptConversation(session, this.#keeping({ id, principal, begun: false, elsewhere }));
    store.keep(id, kept);
    return kept;
  }

  #keeping(of: Pick<Keeping, 'id' | 'principal' | 'begun' | 'elsewhere'>): Keeping {
    const { store, census } = this.#options;
    return { ...of, store, census };
  }

  #idOf(members: readonly MemberState[], principal: string | null): string {
    const { ids, relay } = this.#options;
    const states = new Map(members.map(({ target, state }) => [target, state]));
    return ids.encode(states, { home: relay.self, bound: members.some(({ state }) => state === null), principal });
  }
}

/** Of a session that goes on: what its id tells of the client is less than what is known of the one who has come with it. */
function owned({ client }: SessionFacts, principal: string | null): string | null {
  return client === null ? null : principal;
}

interface Keeping extends Pick<BackendSessionsOptions, 'store' | 'census'> {
  readonly id: string;
  /** Who may use it, as `principalOf` tells; null for everybody. */
  readonly principal: string | null;
  /** Here: it ends with the interest in it. Others may still use one that was begun elsewhere. */
  readonly begun: boolean;
  /** Another thread has the session. */
  readonly elsewhere: boolean;
}

/** A session that is kept: it does not lie idle while something of it is under way. */
export class KeptConversation implements McpSession, OwnedSession, OpenSession {
  readonly id: string;
  readonly principal: string | null;
  readonly elsewhere: boolean;
  readonly #session: FederatedSession;
  readonly #store: SessionStore<KeptConversation>;
  readonly #begun: boolean;
  readonly #census: SessionsRecord | undefined;

  constructor(session: FederatedSession, { id, principal, store, census, begun, elsewhere }: Keeping) {
    this.#session = session;
    this.id = id;
    this.principal = principal;
    this.elsewhere = elsewhere;
    this.#store = store;
    this.#begun = begun;
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

  hold(): () => void {
    return this.#store.hold(this.id, 'stream');
  }

  /** By the client, or, without a call, because nobody uses it any more. */
  close(call: ClientCall | null = null): Promise<void> {
    this.#census?.over(this, call !== null);
    if (call !== null) this.#store.end(this.id);
    else if (!this.#begun) return this.#session.leave();
    return this.#session.close(call);
  }

  leave(): void {
    this.#census?.over(this, false);
    void this.#session.leave();
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
