import type { RpcMessage } from '../message/message.ts';
import type { ClientCall } from '../session/contract.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import { relay } from './calls/relay.ts';
import { forwarded, isConnection, targetCall, type Members } from './members.ts';

/**
 * What all targets say without being asked, as one stream. Targets that have no such stream are left out; where none has
 * one, nor has the whole. With `failOpen`, a stream that nothing can come on any more is held all the same: clients would
 * only ask for it again at once.
 */
export class MergedStream implements Calling {
  readonly #members: Members;
  readonly #call: ClientCall;
  readonly #sink: CallSink;
  readonly #over: () => void;
  readonly #open = new Map<number, Calling>();
  #left: number;
  #clean = false;
  #failed = false;
  #unsupported: TargetFailure | null = null;
  #paused = false;
  #done = false;

  constructor(members: Members, call: ClientCall, sink: CallSink, over: () => void) {
    this.#members = members;
    this.#call = call;
    this.#sink = sink;
    this.#over = over;
    this.#left = members.plan.targets.length;
  }

  start(): this {
    for (let target = 0; target < this.#members.plan.targets.length && !this.#done; target++) this.#begin(target);
    return this;
  }

  cancel(): void {
    if (this.#done) return;
    this.#done = true;
    for (const [target, calling] of this.#open) {
      this.#members.lists.watch(target, -1);
      calling.cancel();
    }
    this.#open.clear();
    this.#over();
  }

  pause(): void {
    this.#paused = true;
    for (const calling of this.#open.values()) calling.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const calling of this.#open.values()) calling.resume();
  }

  #begin(target: number): void {
    const connection = this.#members.connection(target);
    if (!isConnection(connection)) return this.#ended(connection);
    const { lists } = this.#members;
    let ended = false;
    const calling = connection.listen(targetCall(this.#members, target, this.#call, forwarded(this.#call)), {
      // One that is there is enough for the whole to be there.
      onOpen: () => this.#done || this.#sink.onOpen?.(),
      onMessage: (message) => this.#heard(target, message),
      onEnd: (failure) => {
        ended = true;
        if (this.#open.delete(target)) lists.watch(target, -1);
        this.#ended(failure);
      },
    });
    // It may have ended before it could be told of.
    if (ended) return;
    if (this.#done) return calling.cancel();
    this.#open.set(target, calling);
    lists.watch(target, 1);
    if (this.#paused) calling.pause();
  }

  #heard(target: number, message: RpcMessage): void {
    if (this.#done) return;
    // Answers that nobody waits for any more, and errors of nothing in particular, are for nobody.
    if (message.kind === 'result' || message.kind === 'error') return;
    const refused = relay(this.#members, target, this.#call, message, this.#sink);
    if (refused !== null) this.#end({ kind: 'rpc', error: refused });
  }

  #ended(failure: TargetFailure | null): void {
    if (this.#done) return;
    this.#left--;
    if (failure === null) this.#clean = true;
    else if (failure.kind === 'unsupported') this.#unsupported = failure;
    else if (this.#members.plan.failOpen) this.#failed = true;
    else return this.#end(failure);
    if (this.#left > 0) return;
    if (this.#clean) return this.#end(null);
    if (!this.#failed && this.#unsupported !== null) this.#end(this.#unsupported);
  }

  #end(failure: TargetFailure | null): void {
    this.cancel();
    this.#sink.onEnd(failure);
  }
}
