import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { Reason } from '../../../exchange/refusal.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcFailure, RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import type { ClientCall } from '../../session/contract.ts';
import type { CallSink, Calling, TargetFailure } from '../../targets/contract.ts';
import { blame, broken, isConnection, targetCall, type Members } from '../members.ts';
import { ProgressSum } from '../merge/progress.ts';
import { relay } from './relay.ts';

/** What one target made of its part. */
export type Outcome =
  | { readonly kind: 'result'; readonly target: number; readonly result: JsonObject }
  | { readonly kind: 'failure'; readonly target: number; readonly failure: TargetFailure };

export interface FanOutParts {
  readonly members: Members;
  /** The client's request. */
  readonly message: RpcRequest;
  readonly call: ClientCall;
  readonly sink: CallSink;
  readonly over: (() => void) | null;
}

/**
 * One request of a client that several targets, or several pages of one, answer together. Notifications pass at once;
 * what is answered in the end is up to whoever asks.
 */
export class FanOut implements Calling {
  readonly #parts: FanOutParts;
  readonly #open = new Set<Calling>();
  readonly #progress: ProgressSum;
  #asked = 0;
  #paused = false;
  #done = false;

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    this.#progress = new ProgressSum(parts.message.params);
  }

  get message(): RpcRequest {
    return this.#parts.message;
  }

  get call(): ClientCall {
    return this.#parts.call;
  }

  get members(): Members {
    return this.#parts.members;
  }

  /** The client has its answer, or has left. */
  get done(): boolean {
    return this.#done;
  }

  /** For requests of the gateway's own beside the client's; other requests of the session have others. */
  nextId(): string {
    const { id } = this.message;
    return `gw-${this.#asked++}-${typeof id === 'number' ? 'n' : 's'}-${id}`;
  }

  /** Asks one target. Never settles once the client has left. */
  ask(target: number, message: RpcRequest, headers: Headers): Promise<Outcome> {
    const connection = this.members.connection(target);
    if (!isConnection(connection)) return Promise.resolve({ kind: 'failure', target, failure: connection });
    return new Promise((resolve) => {
      if (this.#done) return;
      const part = new Part(target, resolve, (message_) => this.#relay(target, message_));
      const calling = connection.request(message, targetCall(this.members, target, this.call, headers), part);
      if (part.answered) return;
      this.#open.add(calling);
      // The stream of a target that has answered is left to end by itself, so that its connection can be used again.
      part.onceAnswered = () => this.#open.delete(calling);
      if (this.#done) calling.cancel();
      else if (this.#paused) calling.pause();
    });
  }

  answer(result: JsonObject): void {
    this.#tell({ kind: 'result', id: this.message.id, result });
  }

  /** An error in place of what targets have said. */
  error(error: RpcFailure, reason: Reason): void {
    if (!this.#done) blame(this.call, reason);
    this.#tell({ kind: 'error', id: this.message.id, error });
  }

  /** The failure of a target is that of the whole: told as it is, the client's side knows how to say it. */
  fail(failure: TargetFailure): void {
    if (failure.kind === 'rpc') return this.#tell({ kind: 'error', id: this.message.id, error: failure.error });
    if (this.#done) return;
    this.#settle();
    this.#parts.sink.onEnd(failure);
  }

  cancel(): void {
    if (!this.#done) this.#settle();
  }

  /** Ends without a word: the call goes on as another one. */
  release(): void {
    this.#done = true;
  }

  pause(): void {
    this.#paused = true;
    for (const calling of this.#open) calling.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const calling of this.#open) calling.resume();
  }

  #tell(message: RpcMessage): void {
    if (this.#done) return;
    this.#settle();
    this.#parts.sink.onMessage(message);
    this.#parts.sink.onEnd(null);
  }

  #settle(): void {
    this.#done = true;
    const open = [...this.#open];
    this.#open.clear();
    for (const calling of open) calling.cancel();
    this.#parts.over?.();
  }

  #relay(target: number, message: RpcNotification | RpcRequest): void {
    if (this.#done) return;
    const merged = message.kind === 'notification' ? this.#progress.merge(target, message) : message;
    const refused = relay(this.members, target, this.call, merged, this.#parts.sink);
    if (refused !== null) this.error(refused, 'UpstreamFailure');
  }
}

/** The part of one target; its answer ends it, whether or not the target ends its stream then. */
class Part implements CallSink {
  readonly #target: number;
  readonly #settle: (outcome: Outcome) => void;
  readonly #relay: (message: RpcNotification | RpcRequest) => void;
  answered = false;
  onceAnswered: (() => void) | null = null;

  constructor(
    target: number,
    settle: (outcome: Outcome) => void,
    relayOn: (message: RpcNotification | RpcRequest) => void,
  ) {
    this.#target = target;
    this.#settle = settle;
    this.#relay = relayOn;
  }

  onMessage(message: RpcMessage): void {
    if (this.answered) return;
    if (message.kind === 'notification' || message.kind === 'request') return this.#relay(message);
    if (message.kind === 'result')
      return this.#answer({ kind: 'result', target: this.#target, result: message.result });
    this.#answer({ kind: 'failure', target: this.#target, failure: { kind: 'rpc', error: message.error } });
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.answered) return;
    const reason = failure ?? broken('the target ended its stream without an answer');
    this.#answer({ kind: 'failure', target: this.#target, failure: reason });
  }

  #answer(outcome: Outcome): void {
    this.answered = true;
    this.onceAnswered?.();
    this.#settle(outcome);
  }
}

export function isMethodNotFound(failure: TargetFailure): boolean {
  // Servers of the modern versions say so with a status of HTTP.
  const error = failure.kind === 'rpc' || failure.kind === 'http' ? failure.error : undefined;
  return error?.code === rpcCodes.methodNotFound;
}
