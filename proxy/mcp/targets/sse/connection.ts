import type { RequestId, RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import { metaOf } from '../../message/meta.ts';
import { writeMessage } from '../../message/write.ts';
import { cancellationOf, cancelledBy } from '../cancellation.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import type { HttpCalling } from '../http-caller.ts';
import { broken, discard, httpFailure, succeeded } from '../http-failures.ts';
import { type SseOptions, SseStream } from './stream.ts';

interface Pending {
  readonly message: RpcRequest;
  readonly sink: CallSink;
}

/**
 * A conversation over the older transport: everything that the target says comes over one stream, which is opened by the
 * first message. It is never opened again behind anybody's back: what is asked after its end is `forgotten`, until somebody
 * says `initialize`.
 */
export class SseConnection implements TargetConnection {
  readonly state = null;
  readonly #options: SseOptions;
  readonly #pending = new Map<RequestId, Pending>();
  readonly #listeners = new Set<CallSink>();
  readonly #pausing = new Set<object>();
  #stream: SseStream | null = null;
  #ended = false;

  constructor(options: SseOptions) {
    this.#options = options;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const pending: Pending = { message, sink };
    const same = this.#pending.get(message.id);
    if (same !== undefined) this.#finish(same, broken('another request has the same id'));
    this.#pending.set(message.id, pending);
    let http: HttpCalling | null = null;
    void this.#send(message, call, (calling) => {
      // Given up while the stream was being opened.
      if (this.#pending.get(message.id) !== pending) return false;
      http = calling();
      return true;
    }).then((failure) => (failure === null ? undefined : this.#finish(pending, failure)));
    return {
      cancel: () => {
        if (!this.#drop(pending)) return;
        http?.cancel();
        if (this.#stream !== null && message.method !== 'initialize') void this.post(cancellationOf(message), call);
      },
      pause: () => this.#pause(pending),
      resume: () => this.#resume(pending),
    };
  }

  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    const failure = await this.#send(message, call, (calling) => calling() !== null);
    const gone = cancelledBy(message);
    const pending = gone === null ? undefined : this.#pending.get(gone);
    // Nobody answers what has been cancelled.
    if (pending !== undefined) this.#finish(pending, null);
    return failure;
  }

  async #tellOpen(opening: SseStream['endpoint'], sink: CallSink): Promise<void> {
    const endpoint = await opening;
    if (typeof endpoint === 'string' && this.#listeners.has(sink)) sink.onOpen?.();
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    this.#listeners.add(sink);
    const stream = this.#open(call, null);
    if (stream !== null) void this.#tellOpen(stream.endpoint, sink);
    else
      queueMicrotask(() => {
        if (this.#listeners.delete(sink)) sink.onEnd(forgotten());
      });
    return {
      cancel: () => {
        this.#listeners.delete(sink);
        this.#resume(sink);
      },
      pause: () => this.#pause(sink),
      resume: () => this.#resume(sink),
    };
  }

  leave(): void {
    void this.close();
  }

  close(): Promise<TargetFailure | null> {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    this.#stream?.end(broken('the conversation is over'));
    this.#ended = true;
    // What is said unasked ends with it as it should.
    for (const sink of listeners) {
      this.#pausing.delete(sink);
      sink.onEnd(null);
    }
    return Promise.resolve(null);
  }

  async #send(
    message: RpcMessage,
    call: TargetCall,
    go: (calling: () => HttpCalling) => boolean,
  ): Promise<TargetFailure | null> {
    const stream = this.#open(call, message);
    if (stream === null) return forgotten();
    const endpoint = await stream.endpoint;
    if (typeof endpoint !== 'string') return endpoint;
    const sent = Promise.withResolvers<HttpCalling>();
    const wanted = go(() => {
      const calling = this.#post(message, call, { endpoint, stream });
      sent.resolve(calling);
      return calling;
    });
    if (!wanted) return null;
    const failure = await accepted(await sent.promise);
    if (failure?.kind !== 'http' || failure.status !== 404) return failure;
    failure.response?.body.cancel();
    stream.end(forgotten());
    return forgotten();
  }

  #post(message: RpcMessage, call: TargetCall, to: { endpoint: string; stream: SseStream }): HttpCalling {
    const headers = call.headers.clone();
    for (const name of ['content-length', 'content-encoding', 'last-event-id', 'mcp-session-id']) headers.remove(name);
    headers.set('accept', 'application/json, text/event-stream');
    headers.set('content-type', 'application/json');
    const body = Buffer.from(writeMessage(message));
    const { endpoint: target, stream } = to;
    const lasting = message.kind !== 'request';
    return this.#options.caller.send({ method: 'POST', target, headers, body, lasting, pinned: stream.pinned }, call);
  }

  /** Null where it has ended and the message is none to begin anew with. */
  #open(call: TargetCall, message: RpcMessage | null): SseStream | null {
    if (this.#stream !== null) return this.#stream;
    const begins = message?.kind === 'request' && message.method === 'initialize';
    if (this.#ended && !begins) return null;
    this.#ended = false;
    const stream: SseStream = new SseStream(this.#options, call, {
      onMessage: (each) => this.#deliver(each),
      onEnd: (failure) => this.#streamEnded(stream, failure),
    });
    if (this.#pausing.size > 0) stream.pause();
    this.#stream = stream;
    return stream;
  }

  #streamEnded(stream: SseStream, failure: TargetFailure): void {
    if (this.#stream !== stream) return;
    this.#stream = null;
    this.#ended = true;
    // Copies: whoever hears of it may begin anew at once.
    const pendings = [...this.#pending.values()];
    const listeners = [...this.#listeners];
    for (const pending of pendings) this.#finish(pending, failure);
    for (const sink of listeners) {
      this.#listeners.delete(sink);
      this.#pausing.delete(sink);
      sink.onEnd(failure);
    }
  }

  #deliver(message: RpcMessage): void {
    if (message.kind === 'result' || message.kind === 'error') {
      const pending = message.id === null ? undefined : this.#pending.get(message.id);
      // Answered before, cancelled, or never asked.
      if (pending === undefined || !this.#drop(pending)) return;
      pending.sink.onMessage(message);
      pending.sink.onEnd(null);
      return;
    }
    this.#receiverOf(message)?.onMessage(message);
  }

  /** One stream for all: what is not the progress of a call is for whoever listens, else for the call that waits longest. */
  #receiverOf(message: RpcRequest | RpcNotification): CallSink | undefined {
    if (message.method === 'notifications/progress') {
      const token = message.params?.['progressToken'];
      for (const { message: asked, sink } of this.#pending.values()) if (tokenOf(asked) === token) return sink;
    }
    const [listener] = this.#listeners;
    if (listener !== undefined) return listener;
    const [oldest] = this.#pending.values();
    return oldest?.sink;
  }

  #finish(pending: Pending, failure: TargetFailure | null): void {
    if (this.#drop(pending)) pending.sink.onEnd(failure);
  }

  #drop(pending: Pending): boolean {
    if (this.#pending.get(pending.message.id) !== pending) return false;
    this.#pending.delete(pending.message.id);
    this.#resume(pending);
    return true;
  }

  /** Whoever is slow holds everybody up: they are all the same client. */
  #pause(who: object): void {
    this.#pausing.add(who);
    this.#stream?.pause();
  }

  #resume(who: object): void {
    if (this.#pausing.delete(who) && this.#pausing.size === 0) this.#stream?.resume();
  }
}

async function accepted(calling: HttpCalling): Promise<TargetFailure | null> {
  const outcome = await calling.outcome;
  if (outcome.kind !== 'answer') return outcome;
  if (!succeeded(outcome.response)) return httpFailure(outcome.response);
  discard(outcome);
  return null;
}

function tokenOf(message: RpcRequest): unknown {
  return metaOf(message.params)?.['progressToken'];
}

function forgotten(): TargetFailure {
  return { kind: 'forgotten', message: 'the stream of the target has ended, and the session with it' };
}
