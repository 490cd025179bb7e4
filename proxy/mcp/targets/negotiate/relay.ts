import type { RpcMessage } from '../../message/message.ts';
import type { CallSink, Calling, TargetFailure } from '../contract.ts';

/** A call towards a client that may be carried by several calls towards the target, one after the other. */
export class Relay implements Calling, CallSink {
  readonly #sink: CallSink;
  #inner: Calling | null = null;
  #paused = false;
  #over = false;
  #delivered = false;
  #onCancel: (() => void) | null = null;

  constructor(sink: CallSink) {
    this.#sink = sink;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Something has reached the client. */
  get delivered(): boolean {
    return this.#delivered;
  }

  carry(inner: Calling): void {
    this.#inner = inner;
    if (this.#over) inner.cancel();
    else if (this.#paused) inner.pause();
  }

  /** Called, once, if the client leaves while nothing carries it. */
  set onCancel(listener: (() => void) | null) {
    this.#onCancel = listener;
  }

  onOpen(): void {
    if (!this.#over) this.#sink.onOpen?.();
  }

  onMessage(message: RpcMessage): void {
    if (this.#over) return;
    this.#delivered = true;
    this.#sink.onMessage(message);
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.onEnd(failure);
  }

  /** The answer, and the end. */
  answer(message: RpcMessage): void {
    this.onMessage(message);
    this.onEnd(null);
  }

  /** Says so, and gives up what carries it. */
  abort(message: RpcMessage): void {
    const inner = this.#inner;
    this.answer(message);
    inner?.cancel();
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#inner?.cancel();
    this.#onCancel?.();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#over) this.#inner?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#over) this.#inner?.resume();
  }
}
