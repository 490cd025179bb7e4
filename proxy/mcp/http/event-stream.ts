import { Headers } from '../../exchange/headers.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { PushBody } from '../../exchange/push-body.ts';
import type { RpcMessage } from '../message/message.ts';
import { writeMessage } from '../message/write.ts';
import type { Calling } from '../targets/contract.ts';

/** Bytes that wait for the client before what feeds the stream is told to pause. */
const PAUSE_BYTES = 64 * 1024;
/** A client that leaves this much waiting, from sources that cannot pause, is cut off. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Server-sent events to a client, fed by calls that pause and resume as the client reads. */
export class EventStream {
  readonly #body = new PushBody();
  readonly #feeding = new Set<Calling>();
  readonly #gone: () => void;
  #paused = false;
  #stopped = false;

  /** `gone` is called once when the stream ends otherwise than by `end`. */
  constructor(gone: () => void = () => {}) {
    this.#gone = gone;
    this.#body.onCancel = () => this.#stop();
    this.#body.onDrain = () => this.#resume();
  }

  /** The response that carries the stream. */
  response(): HttpResponse {
    return { status: 200, headers: eventHeaders(), body: this.#body };
  }

  get over(): boolean {
    return this.#body.over;
  }

  /** The call is paused, resumed and cancelled with the stream. */
  feed(calling: Calling): void {
    if (this.over) calling.cancel();
    else {
      this.#feeding.add(calling);
      if (this.#paused) calling.pause();
    }
  }

  fed(calling: Calling): void {
    this.#feeding.delete(calling);
  }

  message(message: RpcMessage): void {
    this.#push(frameOf(message));
  }

  event(name: string, data: string): void {
    this.#push(Buffer.from(`event: ${name}\ndata: ${data}\n\n`));
  }

  end(): void {
    this.#feeding.clear();
    this.#body.end();
  }

  /** Ends the stream and what feeds it. */
  close(): void {
    this.#body.end();
    this.#stop();
  }

  /** Whoever owns the response has no use for the stream. */
  abandon(): void {
    this.#body.cancel();
  }

  #push(bytes: Uint8Array): void {
    if (this.#body.waitingBytes > MOST_BYTES) {
      this.#body.fail(new Error('client does not read its events'));
      this.#stop();
      return;
    }
    this.#body.push(bytes);
    if (this.#paused || this.over || this.#body.waitingBytes < PAUSE_BYTES) return;
    this.#paused = true;
    for (const calling of this.#feeding) calling.pause();
  }

  #resume(): void {
    if (!this.#paused || this.#body.waitingBytes >= PAUSE_BYTES) return;
    this.#paused = false;
    for (const calling of this.#feeding) calling.resume();
  }

  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    const feeding = [...this.#feeding];
    this.#feeding.clear();
    for (const calling of feeding) calling.cancel();
    this.#gone();
  }
}

export function eventHeaders(): Headers {
  return new Headers(['content-type', 'cache-control'], ['text/event-stream', 'no-cache']);
}

/** JSON has no line breaks when it is written without blanks: one line of data. */
export function frameOf(message: RpcMessage): Buffer {
  return Buffer.from(`event: message\ndata: ${writeMessage(message)}\n\n`);
}
