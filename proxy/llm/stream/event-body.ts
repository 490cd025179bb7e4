import type { Body } from '../../exchange/body.ts';
import { PushBody } from '../../exchange/push-body.ts';
import { AwsEventStreamDecoder } from './aws-event-stream.ts';
import { type IdleLimit, IdleWatch } from './idle-watch.ts';
import { SseDecoder } from '../../exchange/sse/sse-decoder.ts';

/** How events are framed: server-sent events, or `application/vnd.amazon.eventstream`. */
export type Framing = 'sse' | 'aws';

/** Follows the events of a stream and says what leaves for the client. */
export interface StreamFollower {
  /** `name` is the event's type where it has one; `data` its text. */
  event(name: string | null, data: string): void;
  /** The service reported a fault inside a stream that is framed well (`:message-type` exception). */
  fault(type: string, data: string): void;
  /** The stream is over; `error` tells what cut it, null is a regular end. */
  end(error: Error | null): void | Promise<void>;
}

/** Where a follower writes. */
export interface StreamOutput {
  write(text: string): void;
  /** Nothing more is taken from the upstream until it is released: what follows waits for a decision. */
  hold(): void;
  release(): void;
  /** The client gets what is written, and nothing more; the upstream is cancelled. */
  stop(why: Error): void;
}

export interface EventBodyOptions extends IdleLimit {
  readonly framing: Framing;
  /** Largest event, bytes. */
  readonly limitBytes: number;
  /** The client gets the upstream's bytes as they are; the follower only looks, and may add to the end. */
  readonly verbatim: boolean;
  readonly follower: (output: StreamOutput) => StreamFollower;
  /** Called once when nothing more will come, whoever ended it. */
  readonly onOver: (ending: 'complete' | 'cut' | 'cancelled', error: Error | null) => void;
}

/**
 * A body made of the events of another, event by event: what is in a chunk leaves with that chunk. A client that is slow
 * holds back the upstream; one that goes away cancels it.
 */
export function eventBody(source: Body, options: EventBodyOptions): Body {
  return new EventStream(source, options).out;
}

class EventStream {
  readonly out = new PushBody();
  readonly #source: Body;
  readonly #options: EventBodyOptions;
  readonly #follower: StreamFollower;
  #text = '';
  #held = false;
  #paused = false;
  #finishing = false;
  #over = false;
  readonly #idle: IdleWatch;

  constructor(source: Body, options: EventBodyOptions) {
    this.#source = source;
    this.#options = options;
    const { follower, framing, limitBytes } = options;
    this.#idle = new IdleWatch(options, (error) => {
      source.cancel();
      void this.#finish(error);
    });
    this.#follower = follower({
      write: (text) => {
        this.#text += text;
        // Between chunks, after a wait, nobody else flushes.
        if (this.#held) this.#flush();
      },
      hold: () => {
        this.#held = true;
        this.#balance();
      },
      release: () => {
        this.#held = false;
        this.#flush();
        this.#balance();
      },
      stop: (why) => this.#stop(why),
    });
    const sink = {
      event: (name: string | null, data: string) => this.#follower.event(name, data),
      message: (headers: ReadonlyMap<string, string>, payload: Uint8Array) => this.#message(headers, payload),
    };
    const decoder = framing === 'sse' ? new SseDecoder(sink, limitBytes) : new AwsEventStreamDecoder(sink, limitBytes);
    this.out.onDrain = () => this.#balance();
    this.out.onCancel = () => {
      source.cancel();
      this.#end('cancelled', null);
    };
    source.pipe({
      onData: (chunk) => this.#guarded(() => this.#data(chunk, decoder)),
      onEnd: () =>
        this.#guarded(() => {
          decoder.end();
          void this.#finish(null);
        }),
      onError: (error) => void this.#finish(error),
    });
  }

  #data(chunk: Uint8Array, decoder: SseDecoder | AwsEventStreamDecoder): void {
    if (this.#over || this.#finishing) return;
    this.#idle.moved();
    try {
      decoder.push(chunk);
    } finally {
      // Behind what the follower makes of it: whether there was text in it is known when it leaves.
      if (this.#options.verbatim) this.out.push(chunk);
    }
    this.#flush();
    this.#balance();
  }

  #message(headers: ReadonlyMap<string, string>, payload: Uint8Array): void {
    const data = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8');
    if (headers.get(':message-type') === 'event') this.#follower.event(headers.get(':event-type') ?? null, data);
    else this.#follower.fault(headers.get(':exception-type') ?? headers.get(':error-code') ?? 'error', data);
  }

  /** What cannot be understood cuts the stream: nothing that follows could be trusted. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#source.cancel();
      void this.#finish(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #stop(why: Error): void {
    if (this.#over) return;
    this.#finishing = true;
    this.#source.cancel();
    this.#flush();
    this.out.end();
    this.#end('cut', why);
  }

  async #finish(error: Error | null): Promise<void> {
    if (this.#over || this.#finishing) return;
    this.#finishing = true;
    try {
      await this.#follower.end(error);
    } catch (fault) {
      this.#end('cut', fault instanceof Error ? fault : new Error(String(fault)));
      this.out.fail(fault instanceof Error ? fault : new Error(String(fault)));
      return;
    }
    this.#flush();
    this.out.end();
    this.#end(error === null ? 'complete' : 'cut', error);
  }

  #end(ending: 'complete' | 'cut' | 'cancelled', error: Error | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#idle.stop();
    this.#options.onOver(ending, error);
  }

  #flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.out.push(Buffer.from(text));
  }

  #balance(): void {
    const wait = this.#held || this.out.full;
    if (wait === this.#paused) return;
    this.#paused = wait;
    if (wait) {
      this.#idle.pause();
      this.#source.pause();
      return;
    }
    this.#idle.resume();
    this.#source.resume();
  }
}
