import type { Body, BodySink } from '../../../proxy/exchange/body.ts';
import type { ConnectionFacts } from '../../../proxy/exchange/connection.ts';
import { Exchange } from '../../../proxy/exchange/exchange.ts';
import { emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { HttpRequest } from '../../../proxy/exchange/message.ts';
import type { Transport } from '../../../proxy/exchange/transport.ts';
import type { Clock } from '../../../proxy/exchange/wait.ts';
import type { TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import { Recorder } from '../../../proxy/telemetry/recorder.ts';

/** A body whose bytes the test sends by hand, and which notes what its consumer asks. */
export class ManualBody implements Body {
  length: number | null = null;
  readonly calls: string[] = [];
  paused = false;
  #sink: BodySink | null = null;

  pipe(sink: BodySink): void {
    this.calls.push('pipe');
    this.#sink = sink;
  }

  pause(): void {
    this.calls.push('pause');
    this.paused = true;
  }

  resume(): void {
    this.calls.push('resume');
    this.paused = false;
  }

  cancel(): void {
    this.calls.push('cancel');
    this.#sink = null;
  }

  send(...chunks: string[]): void {
    for (const chunk of chunks) this.#sink?.onData(Buffer.from(chunk));
  }

  end(trailers: Headers | null = null): void {
    this.#sink?.onEnd(trailers);
  }

  fail(message: string): void {
    this.#sink?.onError(new Error(message));
  }
}

/** Notes what a body delivers; pauses after each chunk when told to. */
export class NotingSink implements BodySink {
  readonly events: string[] = [];
  readonly #pauseEach: Body | null;

  constructor(pauseEach: Body | null = null) {
    this.#pauseEach = pauseEach;
  }

  get text(): string {
    return this.events.filter((event) => !/^(end|error)/.test(event)).join('');
  }

  onData(chunk: Uint8Array): void {
    this.events.push(Buffer.from(chunk).toString());
    this.#pauseEach?.pause();
  }

  onEnd(trailers: Headers | null): void {
    this.events.push(trailers === null ? 'end' : `end ${[...trailers].join()}`);
  }

  onError(error: Error): void {
    this.events.push(`error ${error.message}`);
  }
}

/** Time that stands still until the test moves it. */
export class ManualClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  constructor(now = performance.now()) {
    this.#now = now;
  }

  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  schedule(callback: () => void, delayMs: number): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
  }
}

export const connection: ConnectionFacts = {
  id: 1,
  bind: 'bind/8080',
  bindPort: 8080,
  sourceAddress: '10.0.0.9',
  sourcePort: 51_512,
  rawAddress: '10.0.0.9',
  rawPort: 51_512,
  destinationAddress: '10.0.0.1',
  destinationPort: 8080,
  tls: null,
};

const transport: Transport = {
  respond() {},
  informational() {},
  takeOver: () => null,
  onClientGone() {},
  closeAfterResponse() {},
};

export function request(parts: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'GET',
    scheme: 'http',
    authority: 'shop.test',
    target: '/',
    version: 'HTTP/1.1',
    headers: new Headers(),
    body: emptyBody,
    upgrade: null,
    ...parts,
  };
}

export interface Traced {
  readonly exchange: Exchange;
  readonly messages: TraceMessage[];
  /** `kind: details` of the policy events. */
  readonly policies: string[];
}

/** An exchange that somebody watches. */
export function traced(parts: Partial<HttpRequest> = {}): Traced {
  const messages: TraceMessage[] = [];
  const policies: string[] = [];
  const recorder = new Recorder('r1', ({ message }) => {
    messages.push(message);
    if (message.type !== 'policy') return;
    policies.push(
      `${message.kind}: ${message.result.type === 'apply' ? message.result.details : message.result.reason}`,
    );
  });
  return { exchange: new Exchange(request(parts), connection, transport, recorder), messages, policies };
}

export function untraced(parts: Partial<HttpRequest> = {}): Exchange {
  return new Exchange(request(parts), connection, transport, null);
}
