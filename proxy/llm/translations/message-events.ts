import type { JsonObject } from '../../exchange/attributes.ts';
import type { EventWriter } from './contract.ts';
import { messageOf, noUsage } from './message-answer.ts';

/** Writes the events of a streamed message in the order that Anthropic's clients need: whatever is opened is closed. */
export class MessageEvents {
  #state: 'waiting' | 'started' | 'over' = 'waiting';
  #blocks = 0;
  readonly #open = new Set<number>();

  get started(): boolean {
    return this.#state !== 'waiting';
  }

  get over(): boolean {
    return this.#state === 'over';
  }

  start(id: string | undefined, model: string, out: EventWriter): void {
    if (this.started) return;
    this.#state = 'started';
    const message = messageOf({ id, model, content: [], stopReason: null, usage: noUsage });
    write({ type: 'message_start', message }, out);
  }

  /** The index of the block. */
  open(block: JsonObject, out: EventWriter): number {
    const index = this.#blocks++;
    this.#open.add(index);
    write({ type: 'content_block_start', index, content_block: block }, out);
    return index;
  }

  delta(index: number, delta: JsonObject, out: EventWriter): void {
    write({ type: 'content_block_delta', index, delta }, out);
  }

  close(index: number, out: EventWriter): void {
    if (!this.#open.delete(index)) return;
    write({ type: 'content_block_stop', index }, out);
  }

  closeAll(out: EventWriter): void {
    for (const index of this.#open) this.close(index, out);
  }

  finish(stopReason: string, usage: JsonObject, out: EventWriter): void {
    if (this.over) return;
    this.closeAll(out);
    this.#state = 'over';
    write({ type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage }, out);
    write({ type: 'message_stop' }, out);
  }

  /** What came so far is all there is. */
  fail(message: string, out: EventWriter, type = 'api_error'): void {
    if (this.over) return;
    this.closeAll(out);
    this.#state = 'over';
    write({ type: 'error', error: { type, message } }, out);
  }
}

/** Events are named by their type. */
function write(data: JsonObject & { readonly type: string }, out: EventWriter): void {
  out.event(data.type, data);
}
