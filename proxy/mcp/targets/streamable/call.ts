import { collect } from '../../../exchange/collect.ts';
import type { HttpResponse } from '../../../exchange/message.ts';
import type { RpcMessage, RpcRequest } from '../../message/message.ts';
import { cancellationOf } from '../cancellation.ts';
import type { CallSink, Calling, TargetCall, TargetFailure } from '../contract.ts';
import { EventReader, mediaType, plainBody } from '../event-reader.ts';
import type { HttpAnswer, HttpCalling } from '../http-caller.ts';
import { messagesIn } from '../incoming.ts';
import { broken, discard, succeeded } from '../http-failures.ts';
import { type Conversation, isInitialize, isModern } from './conversation.ts';

/** Of a stream that broke before its answer, one after the other without an event between them. */
const MAX_RESUMPTIONS = 5;
const RESUME_AFTER_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** How long a stream may go on behind its answer before its connection is given up. */
const LINGER_MS = 1000;
/** How long a target may take to answer a handshake that nobody waits for any more. */
const LATE_MS = 5000;

/** One request on its way, its answer as JSON or as a stream that may be resumed. */
export class StreamableCall implements Calling {
  readonly #conversation: Conversation;
  readonly #message: RpcRequest;
  readonly #call: TargetCall;
  readonly #sink: CallSink;
  readonly #session: string | undefined;
  #http: HttpCalling | null = null;
  #reader: EventReader | null = null;
  #paused = false;
  #over = false;
  /** The head of the answer is there. */
  #answered = false;
  #lastEventId: string | null = null;
  #retryMs = RESUME_AFTER_MS;
  #resumptions = 0;
  #unschedule: (() => void) | null = null;
  readonly #onOver: () => void;

  constructor(
    conversation: Conversation,
    message: RpcRequest,
    rest: { call: TargetCall; sink: CallSink; onOver: () => void },
  ) {
    this.#conversation = conversation;
    this.#message = message;
    this.#call = rest.call;
    this.#sink = rest.sink;
    this.#onOver = rest.onOver;
    this.#session = conversation.session;
  }

  start(): void {
    this.#http = this.#conversation.post(this.#message, this.#call);
    void this.#http.outcome.then((outcome) => this.#headed(outcome));
  }

  cancel(): void {
    if (this.#over) return;
    this.drop();
    // Streams of the older versions may break without a meaning.
    if (isModern(this.#call) || isInitialize(this.#message)) return;
    const told = this.#conversation.post(cancellationOf(this.#message), this.#call, true);
    void told.outcome.then(discard);
  }

  /** Ends it without a word to anybody. */
  drop(): void {
    if (this.#over) return;
    this.#finish();
    this.#reader?.cancel();
    // The target may have begun a session by now: its id is waited for, so that it can be ended.
    if (isInitialize(this.#message) && !this.#answered) this.#unschedule = this.#later(() => this.#http?.cancel());
    else this.#http?.cancel();
  }

  #later(work: () => void): () => void {
    return this.#conversation.options.clock.schedule(work, LATE_MS);
  }

  /** Ends it before there is an answer. */
  end(failure: TargetFailure | null): void {
    if (this.#over) return;
    this.drop();
    this.#sink.onEnd(failure);
  }

  pause(): void {
    this.#paused = true;
    this.#reader?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader?.resume();
  }

  #headed(outcome: HttpAnswer | TargetFailure): void {
    const begins = isInitialize(this.#message);
    if (this.#over) {
      this.#unschedule?.();
      if (begins && outcome.kind === 'answer') this.#conversation.unwanted(outcome, this.#call);
      else discard(outcome);
      return;
    }
    if (outcome.kind !== 'answer') {
      this.#fail(outcome);
      return;
    }
    const { response } = outcome;
    this.#answered = true;
    if (!begins) this.#conversation.heard(outcome);
    const fault = begins ? this.#conversation.begun(outcome, this.#call) : null;
    if (fault !== null) this.#refuse(response, fault);
    else if (!succeeded(response)) this.#fail(this.#conversation.failureOf(response, this.#sentSession));
    else if (response.status === 202 || response.status === 204) this.#refuse(response, noAnswer());
    else this.#read(response);
  }

  get #sentSession(): string | undefined {
    return isInitialize(this.#message) ? undefined : this.#session;
  }

  #read(response: HttpResponse): void {
    const type = mediaType(response);
    if (type === 'text/event-stream') this.#readEvents(response);
    else if (type === 'application/json') void this.#readJson(response);
    else this.#refuse(response, broken(`the target answered with content of type ${type === '' ? 'none' : type}`));
  }

  async #readJson(response: HttpResponse): Promise<void> {
    const body = plainBody(response);
    if (body === null) {
      this.#refuse(response, unknownCoding());
      return;
    }
    const collected = await collect(body, this.#conversation.options.limitBytes);
    if (collected.kind === 'overflow') collected.rest.cancel();
    if (this.#over) return;
    if (collected.kind === 'overflow') this.#fail(broken('the answer of the target is too large'));
    else if (collected.kind === 'failed') this.#fail(broken(`the answer broke off: ${collected.error.message}`));
    else this.#take(Buffer.from(collected.body.bytes).toString());
  }

  #take(text: string): void {
    // `null` is how some servers write that there is nothing.
    if (text.trim() !== 'null') this.#deliverAll(text);
    this.#fail(noAnswer());
  }

  #readEvents(response: HttpResponse): void {
    const body = plainBody(response);
    if (body === null) {
      this.#refuse(response, unknownCoding());
      return;
    }
    this.#reader = new EventReader(body, this.#conversation.options.limitBytes, {
      event: (name, data) => this.#event(name, data),
      id: (id) => (this.#lastEventId = id === '' ? null : id),
      retry: (delayMs) => (this.#retryMs = Math.min(delayMs, LONGEST_RETRY_MS)),
      end: (error) => this.#streamEnded(error),
    });
    if (this.#paused) this.#reader.pause();
    this.#reader.start();
  }

  #event(name: string, data: string): void {
    if (this.#over || name !== 'message') return;
    this.#resumptions = 0;
    this.#deliverAll(data);
  }

  #deliverAll(text: string): void {
    const messages = messagesIn(text);
    if (messages === null) this.#stop(broken('the target sent what is no message of JSON-RPC'));
    else for (const message of messages) if (!this.#over) this.#deliver(message);
  }

  #deliver(message: RpcMessage): void {
    if (message.kind === 'request' || message.kind === 'notification') {
      this.#sink.onMessage(message);
      return;
    }
    // An error that names no request can only be about the one that this answers.
    const mine = message.id === this.#message.id || (message.kind === 'error' && message.id === null);
    if (!mine) return;
    this.#finish();
    this.#linger();
    this.#sink.onMessage(message.id === null ? { ...message, id: this.#message.id } : message);
    this.#sink.onEnd(null);
  }

  /** A stream that ends by itself leaves its connection to the next request. */
  #linger(): void {
    const reader = this.#reader;
    if (reader === null) return;
    reader.resume();
    this.#unschedule = this.#conversation.options.clock.schedule(() => reader.cancel(), LINGER_MS);
  }

  #streamEnded(error: Error | null): void {
    this.#unschedule?.();
    if (this.#over) return;
    const why = error === null ? 'the stream ended before its answer' : `the stream broke off: ${error.message}`;
    if (this.#lastEventId === null || isModern(this.#call) || this.#resumptions >= MAX_RESUMPTIONS) {
      this.#fail(broken(why));
      return;
    }
    this.#resumptions += 1;
    this.#unschedule = this.#conversation.options.clock.schedule(() => this.#goOn(why), this.#retryMs);
  }

  #goOn(why: string): void {
    this.#http = this.#conversation.get(this.#call, this.#lastEventId);
    void this.#http.outcome.then((outcome) => this.#resumed(outcome, why));
  }

  #resumed(outcome: HttpAnswer | TargetFailure, why: string): void {
    const response = outcome.kind === 'answer' ? outcome.response : null;
    const streams = response !== null && response.status === 200 && mediaType(response) === 'text/event-stream';
    if (this.#over || !streams) discard(outcome);
    if (this.#over) return;
    if (streams) this.#readEvents(response);
    else if (response === null) this.#streamEnded(new Error('the target cannot be reached'));
    else this.#fail(broken(why));
  }

  #refuse(response: HttpResponse, failure: TargetFailure): void {
    response.body.cancel();
    this.#fail(failure);
  }

  /** What follows could not be trusted. */
  #stop(failure: TargetFailure): void {
    this.#reader?.cancel();
    this.#fail(failure);
  }

  #fail(failure: TargetFailure): void {
    if (this.#over) return;
    this.#finish();
    this.#sink.onEnd(failure);
  }

  #finish(): void {
    this.#over = true;
    this.#unschedule?.();
    this.#onOver();
  }
}

function noAnswer(): TargetFailure {
  return broken('the target took the request and answers nothing');
}

function unknownCoding(): TargetFailure {
  return broken('the target compressed its answer in a way that is not known');
}
