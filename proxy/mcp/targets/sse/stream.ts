import type { HttpResponse } from '../../../exchange/message.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { RpcMessage } from '../../message/message.ts';
import type { TargetCall, TargetFailure } from '../contract.ts';
import { EventReader, mediaType, plainBody } from '../event-reader.ts';
import type { HttpAnswer, HttpCaller, HttpCalling } from '../http-caller.ts';
import { broken, discard, httpFailure, succeeded } from '../http-failures.ts';
import { messagesIn } from '../incoming.ts';
import { endpointPath } from './endpoint.ts';

export interface SseOptions {
  readonly name: string;
  /** Of the stream, with its query if it has one. */
  readonly path: string;
  readonly caller: HttpCaller;
  /** Of one message of the target. */
  readonly limitBytes: number;
  readonly clock: Clock;
  /** How long the target may take to say where messages go, milliseconds. */
  readonly openTimeoutMs: number;
}

export interface StreamSink {
  onMessage(message: RpcMessage): void;
  /** Once, whenever it ends. */
  onEnd(failure: TargetFailure): void;
}

/** The one stream of a conversation, and the address that goes with it. */
export class SseStream {
  readonly #options: SseOptions;
  readonly #sink: StreamSink;
  readonly #opened = Promise.withResolvers<string | TargetFailure>();
  readonly #http: HttpCalling;
  readonly #unschedule: () => void;
  #reader: EventReader | null = null;
  #paused = false;
  #over = false;
  #pinned: string | undefined;
  #origin = '';

  constructor(options: SseOptions, call: TargetCall, sink: StreamSink) {
    this.#options = options;
    this.#sink = sink;
    const headers = call.headers.clone();
    for (const name of ['content-type', 'content-length', 'content-encoding', 'last-event-id', 'mcp-session-id'])
      headers.remove(name);
    headers.set('accept', 'text/event-stream');
    this.#http = options.caller.send(
      { method: 'GET', target: options.path, headers, body: null, lasting: true, pinned: undefined },
      call,
    );
    const tooLate = broken('the target did not say in time where messages go');
    this.#unschedule = options.clock.schedule(() => this.end(tooLate), options.openTimeoutMs);
    void this.#http.outcome.then((outcome) => this.#headed(outcome));
  }

  /** Path and query that messages are posted to, once the target has told. */
  get endpoint(): Promise<string | TargetFailure> {
    return this.#opened.promise;
  }

  /** Of the endpoint that the stream goes to: messages have to get to the same one. */
  get pinned(): string | undefined {
    return this.#pinned;
  }

  pause(): void {
    this.#paused = true;
    this.#reader?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader?.resume();
  }

  end(failure: TargetFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#unschedule();
    this.#reader?.cancel();
    this.#http.cancel();
    this.#opened.resolve(failure);
    this.#sink.onEnd(failure);
  }

  #headed(outcome: HttpAnswer | TargetFailure): void {
    if (this.#over) discard(outcome);
    else if (outcome.kind !== 'answer') this.end(outcome);
    else if (succeeded(outcome.response)) {
      this.#pinned = outcome.pinned;
      this.#origin = outcome.origin;
      this.#read(outcome.response);
    } else this.#refused(outcome.response);
  }

  /** Its body is still wanted: the call that carries it is not given up. */
  #refused(response: HttpResponse): void {
    this.#over = true;
    this.#unschedule();
    const failure = httpFailure(response);
    this.#opened.resolve(failure);
    this.#sink.onEnd(failure);
  }

  #read(response: HttpResponse): void {
    const body = mediaType(response) === 'text/event-stream' ? plainBody(response) : null;
    if (body === null) {
      response.body.cancel();
      this.end(broken('the target answered with what is no event stream'));
      return;
    }
    this.#reader = new EventReader(body, this.#options.limitBytes, {
      event: (name, data) => this.#event(name, data),
      id() {},
      retry() {},
      end: (error) => this.end(broken(`the stream broke off: ${error?.message ?? 'the target ended it'}`)),
    });
    if (this.#paused) this.#reader.pause();
    this.#reader.start();
  }

  #event(name: string, data: string): void {
    if (this.#over) return;
    if (name === 'endpoint') {
      this.#located(endpointPath({ origin: this.#origin, path: this.#options.path }, data));
      return;
    }
    if (name !== 'message') return;
    // What cannot be understood is skipped: the stream is shared by calls that have nothing to do with it.
    for (const message of messagesIn(data) ?? []) if (!this.#over) this.#sink.onMessage(message);
  }

  #located(path: string | null): void {
    if (path === null) {
      this.end(broken('the target wants messages to go to another server'));
      return;
    }
    this.#unschedule();
    this.#opened.resolve(path);
  }
}
