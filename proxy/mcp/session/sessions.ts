import type { Refusal } from '../../exchange/refusal.ts';
import type { Federation } from '../federation/federation.ts';
import type { FederatedSession, MemberState } from '../federation/session.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import type { ClientCall, McpSession, McpSessions } from './contract.ts';
import { LoneConversation } from './lone.ts';
import type { SessionFacts, SessionIds, SessionOwner } from './id.ts';
import type { KeptSession, SessionStore } from './store.ts';

export interface BackendSessionsOptions {
  readonly federation: Federation;
  readonly ids: SessionIds;
  readonly store: SessionStore<KeptConversation>;
  /** This data thread. */
  readonly owner: SessionOwner;
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
      if (opened !== null) store.keep(id, new KeptConversation(opened, id, store));
      return id;
    };
    const session = federation.open({ identify });
    if (!('reason' in session)) opened = session;
    return session;
  }

  alone(): McpSession | Refusal {
    const session = this.#options.federation.open();
    return 'reason' in session ? session : new LoneConversation(session);
  }

  find(id: string): McpSession | 'undecodable' | 'unknown' {
    const { federation, ids, store, owner } = this.#options;
    const kept = store.find(id);
    if (kept !== null) return kept.under(federation.plan);
    const facts = ids.decode(id);
    if (typeof facts === 'string') return facts;
    // Programs and event streams are in the thread that began them.
    if (facts.owner !== null) return 'unknown';
    void owner;
    return this.#resumed(id, facts);
  }

  #resumed(id: string, { states }: SessionFacts): McpSession | 'unknown' {
    const { federation, store } = this.#options;
    const session = federation.open({
      id,
      states: federation.plan.targets.map(({ name }) => states.get(name) ?? null),
    });
    if ('reason' in session) return 'unknown';
    const kept = new KeptConversation(session, id, store);
    store.keep(id, kept);
    return kept;
  }

  #idOf(members: readonly MemberState[]): string {
    const { ids, owner } = this.#options;
    const states = new Map(members.map(({ target, state }) => [target, state]));
    return ids.encode(states, members.some(({ state }) => state === null) ? owner : null);
  }
}

/** A session that is kept: it does not lie idle while something of it is under way. */
export class KeptConversation implements McpSession, KeptSession {
  readonly id: string;
  readonly #session: FederatedSession;
  readonly #store: SessionStore<KeptConversation>;

  constructor(session: FederatedSession, id: string, store: SessionStore<KeptConversation>) {
    this.#session = session;
    this.id = id;
    this.#store = store;
  }

  /** As a newer configuration wants it. */
  under(plan: Federation['plan']): this {
    this.#session.adopt(plan);
    return this;
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    return this.#held(sink, (held) => this.#session.request(message, call, held));
  }

  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    return this.#session.post(message, call);
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    return this.#held(sink, (held) => this.#session.listen(call, held));
  }

  /** By the client, or, without a call, because nobody uses it any more. */
  close(call: ClientCall | null = null): Promise<void> {
    if (call !== null) this.#store.remove(this.id);
    return this.#session.close(call);
  }

  #held(sink: CallSink, begin: (sink: CallSink) => Calling): Calling {
    const release = this.#store.hold(this.id);
    const calling = begin({
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
