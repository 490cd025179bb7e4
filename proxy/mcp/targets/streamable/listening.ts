import type { HttpResponse } from '../../../exchange/message.ts';
import type { CallSink, Calling, TargetCall, TargetFailure } from '../contract.ts';
import { EventReader, mediaType, plainBody } from '../event-reader.ts';
import type { HttpAnswer, HttpCalling } from '../http-caller.ts';
import { messagesIn } from '../incoming.ts';
import { broken, discard, succeeded } from '../http-failures.ts';
import type { Conversation } from './conversation.ts';

const REOPEN_AFTER_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** In a row. */
const MAX_FAILURES = 5;

/** The stream of what a target says unasked. It is opened again when it ends, where it left off if the target numbers its events. */
export class Listening implements Calling {
  readonly #conversation: Conversation;
  readonly #call: TargetCall;
  readonly #sink: CallSink;
  readonly #onOver: () => void;
  #http: HttpCalling | null = null;
  #reader: EventReader | null = null;
  #unschedule: (() => void) | null = null;
  #paused = false;
  #over = false;
  #opened = false;
  #failures = 0;
  #lastEventId: string | null = null;
  #retryMs = REOPEN_AFTER_MS;

  constructor(conversation: Conversation, call: TargetCall, sink: CallSink, onOver: () => void) {
    this.#conversation = conversation;
    this.#call = call;
    this.#sink = sink;
    this.#onOver = onOver;
  }

  start(): void {
    const session = this.#conversation.session;
    this.#http = this.#conversation.get(this.#call, this.#lastEventId);
    void this.#http.outcome.then((outcome) => this.#headed(outcome, session));
  }

  cancel(): void {
    if (this.#over) return;
    this.#finish();
    this.#reader?.cancel();
    this.#http?.cancel();
  }

  end(failure: TargetFailure | null): void {
    if (this.#over) return;
    this.cancel();
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

  #headed(outcome: HttpAnswer | TargetFailure, session: string | undefined): void {
    if (this.#over) {
      discard(outcome);
      return;
    }
    if (outcome.kind !== 'answer') {
      this.#again(outcome);
      return;
    }
    this.#conversation.heard(outcome);
    const { response } = outcome;
    if (!succeeded(response)) this.#fail(this.#refusalOf(response, session));
    else this.#read(response);
  }

  #refusalOf(response: HttpResponse, session: string | undefined): TargetFailure {
    const { status } = response;
    if (status !== 405 && !(status === 404 && session === undefined))
      return this.#conversation.failureOf(response, session);
    response.body.cancel();
    return { kind: 'unsupported', message: 'the target has no stream of its own' };
  }

  #read(response: HttpResponse): void {
    const body = mediaType(response) === 'text/event-stream' ? plainBody(response) : null;
    if (body === null) {
      response.body.cancel();
      this.#fail(broken('the target opened a stream that is no event stream'));
      return;
    }
    if (!this.#opened) this.#sink.onOpen?.();
    this.#opened = true;
    this.#reader = new EventReader(body, this.#conversation.options.limitBytes, {
      event: (name, data) => this.#event(name, data),
      id: (id) => (this.#lastEventId = id === '' ? null : id),
      retry: (delayMs) => (this.#retryMs = Math.min(delayMs, LONGEST_WAIT_MS)),
      end: (error) => this.#again(broken(`the stream broke off: ${error?.message ?? 'the target ended it'}`)),
    });
    if (this.#paused) this.#reader.pause();
    this.#reader.start();
  }

  #event(name: string, data: string): void {
    if (this.#over || name !== 'message') return;
    this.#failures = 0;
    // Answers have their own streams; what cannot be understood is skipped: nobody waits for it.
    for (const message of messagesIn(data) ?? [])
      if (!this.#over && (message.kind === 'request' || message.kind === 'notification')) this.#sink.onMessage(message);
  }

  #again(failure: TargetFailure): void {
    if (this.#over) return;
    this.#failures += 1;
    if (!this.#opened || this.#failures > MAX_FAILURES) {
      this.#fail(failure);
      return;
    }
    const waitMs = Math.min(this.#retryMs * 2 ** (this.#failures - 1), LONGEST_WAIT_MS);
    this.#unschedule = this.#conversation.options.clock.schedule(() => this.start(), waitMs);
  }

  #fail(failure: TargetFailure): void {
    this.#finish();
    this.#sink.onEnd(failure);
  }

  #finish(): void {
    this.#over = true;
    this.#unschedule?.();
    this.#onOver();
  }
}
