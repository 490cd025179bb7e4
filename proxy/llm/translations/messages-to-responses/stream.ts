import type { JsonObject } from '../../../exchange/attributes.ts';
import { LlmFailure } from '../../failure.ts';
import { number, object, objects, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { messageUsage } from '../message-answer.ts';
import { MessageEvents } from '../message-events.ts';
import { streamedError } from '../service-error.ts';
import { stopReason } from './response.ts';

/** A block that was opened; `told`: something of it was written. */
interface Block {
  readonly index: number;
  told: boolean;
}

/** The events of a response as events of a message. */
export class ResponseMessage implements StreamTranslator {
  readonly #model: string;
  readonly #events = new MessageEvents();
  /** By the index of the item and, for texts, of the part. */
  readonly #texts = new Map<string, Block>();
  readonly #calls = new Map<number, Block>();
  #refused = false;

  constructor(model: string) {
    this.#model = model;
  }

  get complete(): boolean {
    return this.#events.over;
  }

  event(name: string | null, data: JsonObject, out: EventWriter): void {
    if (this.#events.over) return;
    const type = text(data['type']) ?? name;
    if (type === 'error' || type === 'response.failed') {
      this.#fail(data, out);
      return;
    }
    const response = object(data['response']);
    this.#events.start(text(response?.['id']), text(response?.['model']) ?? this.#model, out);
    this.#take(type, data, out);
  }

  end(_done: boolean, out: EventWriter): void {
    this.#events.fail('the upstream stream ended before the answer was complete', out);
  }

  #take(type: string | null, data: JsonObject, out: EventWriter): void {
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#say(data, type === 'response.refusal.delta', out);
        return;
      case 'response.content_part.done':
        this.#endText(data, object(data['part']) ?? {}, out);
        return;
      case 'response.output_item.added':
        this.#open(data, object(data['item']) ?? {}, out);
        return;
      case 'response.function_call_arguments.delta':
        this.#arguments(this.#calls.get(number(data['output_index']) ?? 0), text(data['delta']) ?? '', out);
        return;
      case 'response.output_item.done':
        this.#endItem(data, object(data['item']) ?? {}, out);
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(object(data['response']) ?? {}, out);
        return;
      default:
    }
  }

  // ── texts ──

  #say(data: JsonObject, refusal: boolean, out: EventWriter): void {
    const said = text(data['delta']) ?? '';
    if (refusal) this.#refused = true;
    if (said === '') return;
    const block = this.#text(data, out);
    block.told = true;
    this.#events.delta(block.index, { type: 'text_delta', text: said }, out);
  }

  #text(data: JsonObject, out: EventWriter): Block {
    const key = `${number(data['output_index']) ?? 0}/${number(data['content_index']) ?? 0}`;
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const block = { index: this.#events.open({ type: 'text', text: '' }, out), told: false };
    this.#texts.set(key, block);
    return block;
  }

  /** A text that did not come in parts comes whole. */
  #endText(data: JsonObject, part: JsonObject, out: EventWriter): void {
    const refusal = part['type'] === 'refusal';
    const whole = text(part[refusal ? 'refusal' : 'text']) ?? '';
    if (whole === '' || (!refusal && part['type'] !== 'output_text')) return;
    const block = this.#text(data, out);
    if (!block.told) this.#say({ ...data, delta: whole }, refusal, out);
    this.#events.close(block.index, out);
  }

  // ── calls ──

  #open(data: JsonObject, item: JsonObject, out: EventWriter): Block | undefined {
    if (item['type'] !== 'function_call') return undefined;
    const at = number(data['output_index']) ?? 0;
    const known = this.#calls.get(at);
    if (known !== undefined) return known;
    const id = text(item['call_id']) ?? text(item['id']) ?? '';
    const use = { type: 'tool_use', id, name: text(item['name']) ?? '', input: {} };
    const block = { index: this.#events.open(use, out), told: false };
    this.#calls.set(at, block);
    return block;
  }

  #arguments(block: Block | undefined, part: string, out: EventWriter): void {
    if (block === undefined || part === '') return;
    block.told = true;
    this.#events.delta(block.index, { type: 'input_json_delta', partial_json: part }, out);
  }

  #endItem(data: JsonObject, item: JsonObject, out: EventWriter): void {
    if (item['type'] === 'message') {
      objects(item['content']).forEach((part, index) => this.#endText({ ...data, content_index: index }, part, out));
      return;
    }
    const block = this.#open(data, item, out);
    if (block === undefined) return;
    if (!block.told) this.#arguments(block, text(item['arguments']) ?? '', out);
    this.#events.close(block.index, out);
  }

  // ── the end ──

  #finish(response: JsonObject, out: EventWriter): void {
    if (this.#texts.size === 0 && this.#calls.size === 0) this.#tellWhole(response, out);
    try {
      const reason = stopReason(response, { called: this.#calls.size > 0, refused: this.#refused });
      this.#events.finish(reason, messageUsage(object(response['usage']), 'responses'), out);
    } catch (error) {
      if (!(error instanceof LlmFailure)) throw error;
      this.#events.fail(error.message, out);
    }
  }

  /** Nothing came in parts. */
  #tellWhole(response: JsonObject, out: EventWriter): void {
    objects(response['output']).forEach((item, index) => this.#endItem({ output_index: index }, item, out));
  }

  #fail(data: JsonObject, out: EventWriter): void {
    const told = streamedError(object(data['response']) ?? data);
    this.#events.fail(told?.message ?? text(data['message']) ?? 'the service failed', out);
  }
}
