import type { JsonObject } from '../../../exchange/attributes.ts';
import { contentText, thoughtIn } from '../../formats/completions/text.ts';
import { ToolCallDeltas } from '../../formats/completions/tool-call-deltas.ts';
import { number, object, objects, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { newId } from '../ids.ts';
import { responseUsage, type ResponseHead } from '../response-body.ts';
import { ResponseEvents } from '../response-events.ts';
import { streamedError } from '../service-error.ts';
import { endOf } from './response.ts';

/** The chunks of a chat completion as events of a response. */
export class ResponseChunks implements StreamTranslator {
  readonly #events: ResponseEvents;
  readonly #deltas = new ToolCallDeltas();
  /** Items of calls, by the ordinal of the call. */
  readonly #calls = new Map<number, number>();
  #finish: string | undefined;
  #usage: JsonObject = responseUsage({});

  constructor(head: ResponseHead) {
    this.#events = new ResponseEvents(head);
  }

  get complete(): boolean {
    return this.#events.over;
  }

  event(_name: string | null, data: JsonObject, out: EventWriter): void {
    if (this.#events.over) return;
    const error = streamedError(data);
    if (error !== undefined) {
      this.#events.fail(error.message, out);
      return;
    }
    this.#events.start(text(data['model']), out);
    const choice = objects(data['choices']).find(({ index }) => (number(index) ?? 0) === 0);
    if (choice !== undefined) this.#choice(choice, out);
    const usage = object(data['usage']);
    if (usage === undefined) return;
    this.#usage = responseUsage(usage);
    // Services that count with each chunk count for the last time when, or after, they finish.
    if (this.#finish !== undefined) this.#close(out);
  }

  end(done: boolean, out: EventWriter): void {
    if (this.#events.over) return;
    if (!done && this.#finish === undefined) {
      this.#events.fail('the upstream stream ended before the answer was complete', out);
      return;
    }
    this.#events.start(undefined, out);
    this.#close(out);
  }

  #choice(choice: JsonObject, out: EventWriter): void {
    const delta = object(choice['delta']);
    if (delta !== undefined) {
      this.#events.reasoning(thoughtIn(delta), out);
      this.#events.text('output_text', contentText(delta['content']) ?? '', out);
      this.#events.text('refusal', text(delta['refusal']) ?? '', out);
      for (const call of objects(delta['tool_calls'])) this.#call(call, out);
    }
    this.#finish = text(choice['finish_reason']) ?? this.#finish;
  }

  #call(told: JsonObject, out: EventWriter): void {
    const delta = this.#deltas.take(told);
    if (delta === null) return;
    const { call, opens, arguments: part } = delta;
    if (opens) this.#calls.set(call.ordinal, this.#events.call(call.id || newId('call_'), call.name, out));
    const index = this.#calls.get(call.ordinal);
    if (index !== undefined) this.#events.arguments(index, part, out);
  }

  #close(out: EventWriter): void {
    this.#events.finish(endOf(this.#finish), this.#usage, out);
  }
}
