import type { Body } from '../../exchange/body.ts';
import { codingOf, decodersOf } from '../../exchange/coding/content-coding.ts';
import { decodedBody } from '../../exchange/coding/decoded-body.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { SseDecoder } from '../../exchange/sse/sse-decoder.ts';

/** What comes out of an event stream. Nothing is called after `end`. */
export interface EventSink {
  /** Data of an event that has some; `name` is `message` where the stream names none. */
  event(name: string, data: string): void;
  id(id: string): void;
  retry(delayMs: number): void;
  /** Null for a regular end. */
  end(error: Error | null): void;
}

/** The body of a response without its compression; null when that is of no known kind. */
export function plainBody(response: HttpResponse): Body | null {
  const codings = codingOf(response.headers);
  if (codings === undefined) return null;
  let { body } = response;
  if (codings !== null) for (const decoder of decodersOf(codings)) body = decodedBody(body, decoder);
  return body;
}

export function mediaType(response: HttpResponse): string {
  return response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Reads a body as server-sent events, from `start` until it ends or is cancelled. */
export class EventReader {
  readonly #body: Body;
  readonly #limitBytes: number;
  readonly #sink: EventSink;
  #over = false;

  constructor(body: Body, limitBytes: number, sink: EventSink) {
    this.#body = body;
    this.#limitBytes = limitBytes;
    this.#sink = sink;
  }

  /** May deliver what is there already before it returns. */
  start(): void {
    const sink = this.#sink;
    const decoder = new SseDecoder(
      {
        event: (name, data) => {
          if (!this.#over && data !== '') sink.event(name ?? 'message', data);
        },
        id: (id) => sink.id(id),
        retry: (delayMs) => sink.retry(delayMs),
      },
      this.#limitBytes,
    );
    this.#body.pipe({
      onData: (chunk) => this.#guarded(() => decoder.push(chunk)),
      onEnd: () => {
        this.#guarded(() => decoder.end());
        this.#end(null);
      },
      onError: (error) => this.#end(error),
    });
  }

  pause(): void {
    if (!this.#over) this.#body.pause();
  }

  resume(): void {
    if (!this.#over) this.#body.resume();
  }

  /** `end` is not called. */
  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#body.cancel();
  }

  #guarded(step: () => void): void {
    if (this.#over) return;
    try {
      step();
    } catch (error) {
      this.#body.cancel();
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(error: Error | null): void {
    if (this.#over) return;
    this.#over = true;
    this.#sink.end(error);
  }
}
