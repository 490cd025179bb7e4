import type { McpServer, McpTarget } from '../../../src/config/ir/index.ts';
import { emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { Federation } from '../federation/federation.ts';
import { nobodyThere, settled } from '../federation/members.ts';
import type { Plan } from '../federation/plan.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { ClientCall, McpSession, McpSessions, NoSession } from '../session/contract.ts';
import type { SessionIds } from '../session/id.ts';
import { foreign, principalOf } from '../session/principal.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import { addresseeOf } from './addressee.ts';

export interface DrySessionsOptions {
  readonly targets: readonly McpTarget[];
  readonly federation: Federation;
  readonly ids: SessionIds;
}

/** Sessions in which nothing is asked of anybody. */
export class DrySessions implements McpSessions {
  readonly #options: DrySessionsOptions;

  constructor(options: DrySessionsOptions) {
    this.#options = options;
  }

  get stateful(): boolean {
    return this.#options.federation.plan.stateful;
  }

  begin(): McpSession | Refusal {
    return this.#session(null);
  }

  alone(): McpSession | Refusal {
    return this.#session(null);
  }

  /** Whether the session is open cannot be told from its id; that it was given out here can. */
  find(id: string, { exchange }: ClientCall): McpSession | NoSession {
    const { ids } = this.#options;
    const facts = ids.decode(id);
    if (typeof facts === 'string') return facts;
    if (facts.client !== null && facts.client !== ids.mark(principalOf(exchange))) return foreign(exchange);
    const session = this.#session(id);
    return 'reason' in session ? 'unknown' : session;
  }

  /** What the only target says of itself is its own answer. */
  passedThrough(exchange: Exchange): Promise<HttpResponse> {
    exchange.trace?.emit({ type: 'policyEvent', kind: 'mcp', details: 'the request goes to the only target as it is' });
    exchange.trace?.emit({ type: 'backendCallStart', target: shown(this.#options.targets) });
    return Promise.resolve({ status: 200, headers: new Headers(), body: emptyBody });
  }

  #session(id: string | null): McpSession | Refusal {
    const { federation, targets } = this.#options;
    const opened = federation.open();
    return 'reason' in opened ? opened : new DrySession(id, federation.plan, targets);
  }
}

class DrySession implements McpSession {
  readonly id: string | null;
  readonly #plan: Plan;
  readonly #targets: readonly McpTarget[];

  constructor(id: string | null, plan: Plan, targets: readonly McpTarget[]) {
    this.id = id;
    this.#plan = plan;
    this.#targets = targets;
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    const { guards, targets } = this.#plan;
    if (targets.length === 0 && message.method !== 'initialize') return end(sink, nobodyThere);
    const addressee = addresseeOf(this.#plan, message, call);
    if (addressee.kind === 'nobody') return end(sink, addressee.failure);
    const { trace } = call.exchange;
    if (guards?.looksAt(message.method, 'request') === true)
      trace?.emit({ type: 'policyEvent', kind: 'guardrail', details: { notAsked: 'processors of MCP' } }, 'warn');
    trace?.emit({ type: 'policyEvent', kind: 'mcp', details: addressee.why });
    this.#ask(addressee.targets, call);
    sink.onMessage({ kind: 'result', id: message.id, result: {} });
    return end(sink, null);
  }

  post(_message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    this.#askAll(call);
    return Promise.resolve(null);
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    this.#askAll(call);
    return end(sink, null);
  }

  close(call: ClientCall): Promise<void> {
    this.#askAll(call);
    return Promise.resolve();
  }

  #askAll(call: ClientCall): void {
    this.#ask([...this.#targets.keys()], call);
  }

  #ask(targets: readonly number[], { exchange }: ClientCall): void {
    const asked = targets.flatMap((at) => this.#targets[at] ?? []);
    if (asked.length > 0) exchange.trace?.emit({ type: 'backendCallStart', target: shown(asked) });
  }
}

/** Targets that are named one by one. */
const MAX_NAMED = 8;

function shown(targets: readonly McpTarget[]): string {
  const [only, ...others] = targets;
  if (only !== undefined && others.length === 0) return `target ${only.name} (${placeOf(only.server)})`;
  const names = targets.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = targets.length > MAX_NAMED ? ` and ${targets.length - MAX_NAMED} more` : '';
  return `targets ${names.join(', ')}${more}`;
}

function placeOf(server: McpServer): string {
  if (server.kind === 'stdio') return `program ${server.command}`;
  const { at } = server;
  if (at.kind === 'backend') return `${server.kind}, backend ${at.backend.replace(/^\//, '')}`;
  return `${server.kind}, ${at.target.kind === 'unix' ? at.target.path : `${at.target.host}:${at.target.port}`}`;
}

function end(sink: CallSink, failure: TargetFailure | null): Calling {
  sink.onEnd(failure);
  return settled;
}
