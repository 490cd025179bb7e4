import { parseMessage } from '../../message/parse.ts';
import type { Recorder } from '../../../telemetry/recorder.ts';
import type { CallSink, Calling } from '../../targets/contract.ts';
import { type FromOwner, gone, type ToOwner, type Way } from './messages.ts';
import { received } from './sent-failure.ts';

interface Traced {
  readonly trace: Recorder;
  readonly release: () => void;
}

/** The way to one owner, and the calls that are under way on it. */
export class OwnerWay {
  readonly #port: Way<ToOwner, FromOwner>;
  readonly #calls = new Map<number, CallSink>();
  /** Of watched requests, until the owner has told everything. */
  readonly #traces = new Map<number, Traced>();
  #ids = 0;
  #closed = false;

  constructor(port: Way<ToOwner, FromOwner>) {
    this.#port = port;
    port.on('message', (message) => this.#heard(message));
    port.on('close', () => this.#lost());
    port.unref();
  }

  /** The owner is gone; whoever wants to try again needs another way. */
  get closed(): boolean {
    return this.#closed;
  }

  call(message: (id: number) => ToOwner, sink: CallSink, trace: Recorder | null): Calling {
    this.#ids += 1;
    const id = this.#ids;
    this.#calls.set(id, sink);
    if (this.#closed) queueMicrotask(() => this.#lost());
    else {
      if (trace !== null) this.#traces.set(id, { trace, release: trace.hold() });
      this.#port.postMessage(message(id));
    }
    return {
      cancel: () => this.#calls.delete(id) && this.#say('cancel', id),
      pause: () => this.#calls.has(id) && this.#say('pause', id),
      resume: () => this.#calls.has(id) && this.#say('resume', id),
    };
  }

  close(): void {
    this.#port.close();
    this.#lost();
  }

  #say(kind: 'cancel' | 'pause' | 'resume', id: number): void {
    if (!this.#closed) this.#port.postMessage({ kind, id });
  }

  #heard(message: FromOwner): void {
    if (message.kind === 'trace') this.#traces.get(message.id)?.trace.pass(message.event);
    else if (message.kind === 'traced') this.#told(message.id);
    else this.#answered(message);
  }

  #told(id: number): void {
    this.#traces.get(id)?.release();
    this.#traces.delete(id);
  }

  #answered(message: Exclude<FromOwner, { readonly kind: 'trace' | 'traced' }>): void {
    const sink = this.#calls.get(message.id);
    if (sink === undefined) return;
    if (message.kind === 'end') {
      this.#calls.delete(message.id);
      sink.onEnd(received(message.failure));
      return;
    }
    if (message.kind === 'open') {
      sink.onOpen?.();
      return;
    }
    const parsed = parseMessage(message.text);
    if (parsed.kind === 'message') sink.onMessage(parsed.message);
  }

  #lost(): void {
    this.#closed = true;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const sink of calls) sink.onEnd(gone);
    for (const id of this.#traces.keys()) this.#told(id);
  }
}
