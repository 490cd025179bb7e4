import type { JsonObject } from '../../exchange/attributes.ts';
import type { EventWriter } from './contract.ts';
import { newId } from './ids.ts';
import {
  callItem,
  messageItem,
  reasoningItem,
  responseBody,
  summaryPart,
  textPart,
  type ItemStatus,
  type ResponseEnd,
  type ResponseHead,
} from './response-body.ts';

interface Part {
  readonly kind: 'output_text' | 'refusal';
  text: string;
}

/** An item of the output; its place among them is its index. */
type Item =
  | { readonly kind: 'message'; readonly index: number; readonly id: string; readonly parts: Part[] }
  | {
      readonly kind: 'reasoning';
      readonly index: number;
      readonly id: string;
      text: string;
      signature: string;
      done: boolean;
    }
  | { readonly kind: 'call'; readonly index: number; readonly id: string; readonly name: string; source: string };

/**
 * Writes the events of a streamed response so that a client can put it together: each item is added before it grows, done
 * when it is whole, and the last event has all of them. Events are named by their type and numbered.
 */
export class ResponseEvents {
  #head: ResponseHead;
  #state: 'waiting' | 'started' | 'over' = 'waiting';
  #sequence = 0;
  readonly #items: Item[] = [];

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  get over(): boolean {
    return this.#state === 'over';
  }

  start(model: string | undefined, out: EventWriter): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'started';
    if (model !== undefined && model !== '') this.#head = { ...this.#head, model };
    const response = responseBody(this.#head, { end: null, output: [], usage: null });
    this.#write('response.created', { response }, out);
    this.#write('response.in_progress', { response }, out);
  }

  text(kind: 'output_text' | 'refusal', said: string, out: EventWriter): void {
    if (said === '') return;
    this.#endReasoning(out);
    const message = this.#message(out);
    const part = this.#part(message, kind, out);
    part.text += said;
    const where = partAt(message);
    if (kind === 'refusal') this.#write('response.refusal.delta', { ...where, delta: said }, out);
    else this.#write('response.output_text.delta', { ...where, delta: said, logprobs: [] }, out);
  }

  reasoning(said: string, out: EventWriter): void {
    if (said === '') return;
    let item = this.#items.findLast((one) => one.kind === 'reasoning' && !one.done);
    if (item?.kind !== 'reasoning') {
      item = { kind: 'reasoning', index: this.#items.length, id: newId('rs_'), text: '', signature: '', done: false };
      this.#add(item, reasoningItem(item.id, null), out);
      this.#write('response.reasoning_summary_part.added', { ...summaryAt(item), part: summaryPart('') }, out);
    }
    item.text += said;
    this.#write('response.reasoning_summary_text.delta', { ...summaryAt(item), delta: said }, out);
  }

  /** Of the thought that was told last. */
  signature(signature: string): void {
    const item = this.#items.at(-1);
    if (item?.kind === 'reasoning' && !item.done) item.signature += signature;
  }

  /** The index of the item. */
  call(id: string, name: string, out: EventWriter): number {
    this.#endReasoning(out);
    const item = { kind: 'call' as const, index: this.#items.length, id, name, source: '' };
    this.#add(item, callItem(id, name, '', 'in_progress'), out);
    return item.index;
  }

  arguments(index: number, part: string, out: EventWriter): void {
    const item = this.#items[index];
    if (item?.kind !== 'call' || part === '') return;
    item.source += part;
    this.#write('response.function_call_arguments.delta', { ...at(item), delta: part }, out);
  }

  finish(end: ResponseEnd, usage: JsonObject, out: EventWriter): void {
    if (this.over) return;
    const status = end.status === 'completed' ? 'completed' : 'incomplete';
    this.#endReasoning(out);
    for (const item of this.#items) if (item.kind === 'call') this.#endCall(item, status, out);
    for (const item of this.#items) if (item.kind === 'message') this.#endMessage(item, status, out);
    this.#state = 'over';
    const output = this.#items.map((item) => whole(item, status));
    this.#write(`response.${end.status}`, { response: responseBody(this.#head, { end, output, usage }) }, out);
  }

  /** What came so far is all there is. Clients look for the error in either place. */
  fail(message: string, out: EventWriter): void {
    if (this.over) return;
    this.#state = 'over';
    const error = { type: 'server_error', code: 'server_error', message, param: null };
    this.#write('error', { code: 'server_error', message, param: null, error }, out);
  }

  #message(out: EventWriter): Item & { readonly kind: 'message' } {
    const known = this.#items.find((item) => item.kind === 'message');
    if (known?.kind === 'message') return known;
    const item = { kind: 'message' as const, index: this.#items.length, id: newId('msg_'), parts: [] };
    this.#add(item, messageItem(item.id, [], 'in_progress'), out);
    return item;
  }

  #part(message: Item & { readonly kind: 'message' }, kind: Part['kind'], out: EventWriter): Part {
    const last = message.parts.at(-1);
    if (last?.kind === kind) return last;
    if (last !== undefined) this.#endPart(message, last, out);
    const part = { kind, text: '' };
    message.parts.push(part);
    this.#write('response.content_part.added', { ...partAt(message), part: textPart(kind, '') }, out);
    return part;
  }

  #endPart(message: Item & { readonly kind: 'message' }, { kind, text }: Part, out: EventWriter): void {
    const where = partAt(message);
    if (kind === 'refusal') this.#write('response.refusal.done', { ...where, refusal: text }, out);
    else this.#write('response.output_text.done', { ...where, text, logprobs: [] }, out);
    this.#write('response.content_part.done', { ...where, part: textPart(kind, text) }, out);
  }

  #endMessage(item: Item & { readonly kind: 'message' }, status: ItemStatus, out: EventWriter): void {
    const last = item.parts.at(-1);
    if (last !== undefined) this.#endPart(item, last, out);
    this.#done(item, status, out);
  }

  /** Clients parse the arguments: none at all would be no JSON. */
  #endCall(item: Item & { readonly kind: 'call' }, status: ItemStatus, out: EventWriter): void {
    if (item.source === '') this.arguments(item.index, '{}', out);
    const { name, source } = item;
    this.#write('response.function_call_arguments.done', { ...at(item), name, arguments: source }, out);
    this.#done(item, status, out);
  }

  #endReasoning(out: EventWriter): void {
    const item = this.#items.at(-1);
    if (item?.kind !== 'reasoning' || item.done) return;
    item.done = true;
    const { text } = item;
    this.#write('response.reasoning_summary_text.done', { ...summaryAt(item), text }, out);
    this.#write('response.reasoning_summary_part.done', { ...summaryAt(item), part: summaryPart(text) }, out);
    this.#done(item, 'completed', out);
  }

  #add(item: Item, shown: JsonObject, out: EventWriter): void {
    this.#items.push(item);
    this.#write('response.output_item.added', { output_index: item.index, item: shown }, out);
  }

  #done(item: Item, status: ItemStatus, out: EventWriter): void {
    this.#write('response.output_item.done', { output_index: item.index, item: whole(item, status) }, out);
  }

  #write(type: string, fields: JsonObject, out: EventWriter): void {
    this.#sequence += 1;
    out.event(type, { type, sequence_number: this.#sequence, ...fields });
  }
}

function at({ id, index }: Item): JsonObject {
  return { item_id: id, output_index: index };
}

/** Of the summary, which has one part. */
function summaryAt(item: Item): JsonObject {
  return { ...at(item), summary_index: 0 };
}

/** Of the part that grows, which is the last. */
function partAt(message: Item & { readonly kind: 'message' }): JsonObject {
  return { ...at(message), content_index: message.parts.length - 1 };
}

function whole(item: Item, status: ItemStatus): JsonObject {
  switch (item.kind) {
    case 'message':
      return messageItem(
        item.id,
        item.parts.map(({ kind, text }) => textPart(kind, text)),
        status,
      );
    case 'reasoning':
      return reasoningItem(item.id, item.text, item.signature);
    case 'call':
      return callItem(item.id, item.name, item.source, status);
  }
}
