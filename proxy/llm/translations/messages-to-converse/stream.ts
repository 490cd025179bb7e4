import type { JsonObject } from '../../../exchange/attributes.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { converseEvent, type ConverseEvent } from '../converse/stream-events.ts';
import { noUsage } from '../message-answer.ts';
import { MessageEvents } from '../message-events.ts';
import { messageId, messageUsage, stopReason, type AnswerFacts } from './response.ts';

/** The events of an answer as those of a message. */
export class MessageStream implements StreamTranslator {
  readonly #facts: AnswerFacts;
  readonly #events = new MessageEvents();
  /** Blocks of the message by those of the answer. */
  readonly #blocks = new Map<number, number>();
  #stopped: string | null = null;

  constructor(facts: AnswerFacts) {
    this.#facts = facts;
  }

  get complete(): boolean {
    return this.#events.over;
  }

  event(name: string | null, data: JsonObject, out: EventWriter): void {
    const event = converseEvent(name, data, this.#facts.tools);
    if (event === null || this.#events.over) return;
    this.#events.start(messageId(this.#facts.nowMs), this.#facts.model, out);
    this.#take(event, out);
  }

  end(_done: boolean, out: EventWriter): void {
    if (this.#stopped === null) this.#events.fail('the upstream stream ended before the answer was complete', out);
    else this.#events.finish(stopReason(this.#stopped), noUsage, out);
  }

  #take(event: ConverseEvent, out: EventWriter): void {
    switch (event.kind) {
      case 'start':
        return;
      case 'text':
        this.#delta(event.block, TEXT, { type: 'text_delta', text: event.text }, out);
        return;
      case 'reasoning':
        this.#delta(event.block, THINKING, { type: 'thinking_delta', thinking: event.text }, out);
        return;
      case 'signature':
        this.#delta(event.block, THINKING, { type: 'signature_delta', signature: event.signature }, out);
        return;
      case 'redacted':
        this.#close(event.block, out);
        this.#open(event.block, { type: 'redacted_thinking', data: event.data }, out);
        return;
      case 'tool':
        this.#open(event.block, { type: 'tool_use', id: event.id, name: event.name, input: {} }, out);
        return;
      case 'input': {
        const index = this.#blocks.get(event.block);
        if (index === undefined) return;
        this.#events.delta(index, { type: 'input_json_delta', partial_json: event.json }, out);
        return;
      }
      case 'close':
        this.#close(event.block, out);
        return;
      case 'stop':
        this.#stopped = event.reason;
        return;
      case 'usage':
        // It comes last; without a reason to stop before it, the answer is not complete.
        if (this.#stopped !== null) this.#events.finish(stopReason(this.#stopped), messageUsage(event.usage), out);
        return;
    }
  }

  /** Bedrock tells of the beginning of blocks of tools alone. */
  #delta(block: number, opening: JsonObject, delta: JsonObject, out: EventWriter): void {
    const index = this.#blocks.get(block) ?? this.#open(block, opening, out);
    this.#events.delta(index, delta, out);
  }

  #open(block: number, opening: JsonObject, out: EventWriter): number {
    const index = this.#events.open(opening, out);
    this.#blocks.set(block, index);
    return index;
  }

  #close(block: number, out: EventWriter): void {
    const index = this.#blocks.get(block);
    if (index !== undefined) this.#events.close(index, out);
    this.#blocks.delete(block);
  }
}

const TEXT: JsonObject = { type: 'text', text: '' };
const THINKING: JsonObject = { type: 'thinking', thinking: '', signature: '' };
