import type { JsonObject } from '../../../exchange/attributes.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { converseEvent, type ConverseEvent } from '../converse/stream-events.ts';
import type { ResponseHead } from '../response-body.ts';
import { ResponseEvents } from '../response-events.ts';
import { endOf, responseUsage } from './response.ts';

/** The events of an answer as those of a response. */
export class ResponseStream implements StreamTranslator {
  readonly #events: ResponseEvents;
  readonly #tools: SafeNames;
  /** Items of calls, by the index of their block. */
  readonly #calls = new Map<number, number>();
  #stopped: string | null = null;

  constructor(head: ResponseHead, tools: SafeNames) {
    this.#events = new ResponseEvents(head);
    this.#tools = tools;
  }

  get complete(): boolean {
    return this.#events.over;
  }

  event(name: string | null, data: JsonObject, out: EventWriter): void {
    const event = converseEvent(name, data, this.#tools);
    if (event === null || this.#events.over) return;
    this.#events.start(undefined, out);
    this.#take(event, out);
  }

  end(_done: boolean, out: EventWriter): void {
    if (this.#stopped === null) this.#events.fail('the upstream stream ended before the answer was complete', out);
    else this.#events.finish(endOf(this.#stopped), responseUsage({}), out);
  }

  #take(event: ConverseEvent, out: EventWriter): void {
    switch (event.kind) {
      case 'text':
        this.#events.text('output_text', event.text, out);
        return;
      case 'reasoning':
        this.#events.reasoning(event.text, out);
        return;
      case 'signature':
        this.#events.signature(event.signature);
        return;
      case 'tool':
        this.#calls.set(event.block, this.#events.call(event.id, event.name, out));
        return;
      case 'input': {
        const index = this.#calls.get(event.block);
        if (index !== undefined) this.#events.arguments(index, event.json, out);
        return;
      }
      case 'stop':
        this.#stopped = event.reason;
        return;
      case 'usage':
        if (this.#stopped !== null) this.#events.finish(endOf(this.#stopped), responseUsage(event.usage), out);
        return;
      // What nobody may read has no place in a response.
      case 'start':
      case 'redacted':
      case 'close':
    }
  }
}
