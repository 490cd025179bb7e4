import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { Reason } from '../../../exchange/refusal.ts';
import type { Guarded } from '../../guard/contract.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcFailure, RpcMessage, RpcRequest, RpcResult } from '../../message/message.ts';
import type { ClientCall } from '../../session/contract.ts';
import type { CallSink, Calling, TargetFailure } from '../../targets/contract.ts';
import { blame, broken, denied, isConnection, targetCall, type Members } from '../members.ts';
import { relay } from './relay.ts';

export interface OneCallParts {
  readonly members: Members;
  readonly target: number;
  readonly call: ClientCall;
  readonly sink: CallSink;
  /** Told of the target's own result. */
  readonly answered?: ((result: JsonObject) => void) | null;
  /** What the client may see of a result, before processors do; null for a result that cannot be. */
  readonly filter?: ((result: JsonObject) => JsonObject | null) | null;
  /** What becomes of a result: another one in the client's words, or null for one that cannot be. */
  readonly finish: ((result: JsonObject) => JsonObject | null) | null;
  /** Called when nothing more comes. */
  readonly over: (() => void) | null;
}

/**
 * A call of one target: what comes from it goes to the client at once, in order, and the answer last. Whatever happens, the
 * sink hears of one end.
 */
export class OneCall implements Calling, CallSink {
  readonly #parts: OneCallParts;
  #message: RpcRequest | null = null;
  #headers: Headers | null = null;
  #calling: Calling | null = null;
  #paused = false;
  /** The answer is there; it may still be with processors. */
  #answered = false;
  /** The client has heard the end, or left. */
  #done = false;
  /** The target has. */
  #ended = false;

  constructor(parts: OneCallParts) {
    this.#parts = parts;
  }

  /** `message` is in the target's words. Not called after `refuse`; does nothing when the client has left before. */
  begin(message: RpcRequest, headers: Headers): void {
    if (this.#done) return;
    const { members, target, call } = this.#parts;
    const connection = members.connection(target);
    if (!isConnection(connection)) return this.#end(connection);
    this.#message = message;
    this.#headers = headers;
    this.#calling = connection.request(message, targetCall(members, target, call, headers), this);
    if (this.#done && !this.#ended) this.#calling.cancel();
    else if (this.#paused) this.#calling.pause();
  }

  /** Says no before the target is asked. */
  refuse(failure: TargetFailure): void {
    this.#end(failure);
  }

  cancel(): void {
    const open = !this.#done;
    this.#done = true;
    if (!this.#ended) this.#calling?.cancel();
    if (open) this.#parts.over?.();
  }

  pause(): void {
    this.#paused = true;
    this.#calling?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#calling?.resume();
  }

  onMessage(message: RpcMessage): void {
    if (this.#done || this.#answered) return;
    if (message.kind === 'result' || message.kind === 'error') return this.#answer(message);
    const { members, target, call, sink } = this.#parts;
    const refused = relay(members, target, call, message, sink);
    if (refused === null) return;
    this.#fail(refused, 'UpstreamFailure');
    if (!this.#ended) this.#calling?.cancel();
  }

  onEnd(failure: TargetFailure | null): void {
    this.#ended = true;
    if (this.#done || this.#answered) return;
    this.#end(failure ?? broken('the target ended its stream without an answer'));
  }

  #answer(given: RpcAnswer): void {
    this.#answered = true;
    if (given.kind === 'result') this.#parts.answered?.(given.result);
    const answer = this.#filtered(given);
    if (answer === null) return this.#incompatible();
    const request = this.#message;
    const { members, call } = this.#parts;
    const { guards } = members.plan;
    const looked = request !== null && answer.kind === 'result' && guards?.looksAt(request.method, 'response');
    if (looked !== true) return this.#deliver(answer);
    const guarded = {
      exchange: call.exchange,
      method: request.method,
      targets: [members.plan.targets[this.#parts.target]?.name ?? ''],
      headers: this.#headers ?? call.exchange.request.headers,
    };
    guards?.response(guarded, answer.result).then(
      (outcome) => this.#checked(answer, outcome),
      (error: unknown) => this.#fail({ code: rpcCodes.internal, message: messageOf(error) }, 'Internal'),
    );
  }

  #filtered(answer: RpcAnswer): RpcAnswer | null {
    const { filter = null } = this.#parts;
    if (filter === null || answer.kind === 'error') return answer;
    const result = filter(answer.result);
    return result === null ? null : { ...answer, result };
  }

  #checked(answer: RpcResult, outcome: Guarded): void {
    if (outcome.kind === 'reject') this.#fail(outcome.error, 'Guardrail');
    else this.#deliver(outcome.body === null ? answer : { ...answer, result: outcome.body });
  }

  #deliver(answer: RpcAnswer): void {
    if (this.#done) return;
    const { finish, sink } = this.#parts;
    const id = this.#message?.id ?? answer.id;
    let told = answer;
    if (answer.kind === 'result' && finish !== null) {
      const result = finish(answer.result);
      if (result === null) return this.#incompatible();
      if (result !== answer.result) told = { ...answer, result };
    }
    // Targets that could not tell what an error is about answer without an id.
    sink.onMessage(told.id === id || id === null ? told : { ...told, id });
    this.#end(null);
  }

  #incompatible(): void {
    const message = `upstream returned a result incompatible with \`${this.#message?.method ?? ''}\``;
    this.#fail({ code: rpcCodes.internal, message }, 'UpstreamFailure');
  }

  /** An error in place of what the target has said. */
  #fail(error: RpcFailure, reason: Reason): void {
    if (this.#done) return;
    if (this.#message === null) return this.#end(denied(error, reason));
    blame(this.#parts.call, reason);
    this.#parts.sink.onMessage({ kind: 'error', id: this.#message.id, error });
    this.#end(null);
  }

  #end(failure: TargetFailure | null): void {
    if (this.#done) return;
    this.#done = true;
    this.#parts.over?.();
    this.#parts.sink.onEnd(failure);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
