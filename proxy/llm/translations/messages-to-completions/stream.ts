import type { JsonObject } from '../../../exchange/attributes.ts';
import { contentText, thoughtIn } from '../../formats/completions/text.ts';
import { ToolCallDeltas } from '../../formats/completions/tool-call-deltas.ts';
import { number, object, objects, text } from '../../json.ts';
import type { EventWriter, StreamTranslator } from '../contract.ts';
import { messageUsage, noUsage } from '../message-answer.ts';
import { MessageEvents } from '../message-events.ts';
import { streamedError } from '../service-error.ts';
import { stopReason, type MessageOptions } from './response.ts';

/** The chunks of a chat completion as events of a message. */
export class MessageChunks implements StreamTranslator {
  readonly #options: MessageOptions;
  readonly #events = new MessageEvents();
  readonly #deltas = new ToolCallDeltas();
  /** Blocks of calls, by the ordinal of the call. */
  readonly #tools = new Map<number, number>();
  /** The open block of what is said or thought. */
  #prose: { readonly kind: 'text' | 'thinking'; readonly index: number } | null = null;
  #finish: string | null = null;
  #usage: JsonObject = noUsage;
  #refused = false;

  constructor(options: MessageOptions) {
    this.#options = options;
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
    this.#events.start(text(data['id']), text(data['model']) || this.#options.model, out);
    const choice = objects(data['choices']).find(({ index }) => (number(index) ?? 0) === 0);
    if (choice !== undefined) this.#choice(choice, out);
    const usage = object(data['usage']);
    if (usage === undefined) return;
    this.#usage = messageUsage(usage, 'completions');
    // Services that count with each chunk count for the last time when, or after, they finish.
    if (this.#finish !== null) this.#close(out);
  }

  end(done: boolean, out: EventWriter): void {
    if (this.#events.over) return;
    if (!done && this.#finish === null) {
      this.#events.fail('the upstream stream ended before the answer was complete', out);
      return;
    }
    this.#events.start(undefined, this.#options.model, out);
    this.#close(out);
  }

  #choice(choice: JsonObject, out: EventWriter): void {
    const delta = object(choice['delta']);
    if (delta !== undefined) this.#delta(delta, out);
    this.#finish = text(choice['finish_reason']) ?? this.#finish;
  }

  #delta(delta: JsonObject, out: EventWriter): void {
    if (this.#options.thoughts) this.#say('thinking', thoughtIn(delta), out);
    this.#say('text', contentText(delta['content']) ?? '', out);
    const refusal = text(delta['refusal']) ?? '';
    this.#refused ||= refusal !== '';
    this.#say('text', refusal, out);
    for (const call of objects(delta['tool_calls'])) this.#call(call, out);
  }

  #say(kind: 'text' | 'thinking', said: string, out: EventWriter): void {
    if (said === '') return;
    if (this.#prose?.kind !== kind) {
      this.#events.closeAll(out);
      const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
      this.#prose = { kind, index: this.#events.open(block, out) };
    }
    const delta = kind === 'text' ? { type: 'text_delta', text: said } : { type: 'thinking_delta', thinking: said };
    this.#events.delta(this.#prose.index, delta, out);
  }

  #call(told: JsonObject, out: EventWriter): void {
    const delta = this.#deltas.take(told);
    if (delta === null) return;
    const { call, arguments: part } = delta;
    if (delta.opens) {
      this.#endProse(out);
      const id = call.id === '' ? `tool_call_${call.ordinal}` : call.id;
      this.#tools.set(call.ordinal, this.#events.open({ type: 'tool_use', id, name: call.name, input: {} }, out));
    }
    const index = this.#tools.get(call.ordinal);
    if (part === '' || index === undefined) return;
    this.#events.delta(index, { type: 'input_json_delta', partial_json: part }, out);
  }

  #endProse(out: EventWriter): void {
    if (this.#prose !== null) this.#events.close(this.#prose.index, out);
    this.#prose = null;
  }

  #close(out: EventWriter): void {
    const finished = { finish: this.#finish, withCalls: this.#tools.size > 0, refused: this.#refused };
    this.#events.finish(stopReason(finished), this.#usage, out);
  }
}
