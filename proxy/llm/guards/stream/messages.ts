import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import type { EventTexts, Reading, StreamEvent } from './contract.ts';

/** Anthropic messages: one text for each block. */
export class MessagesEvents implements EventTexts {
  readonly #open = new Set<number>();

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    const index = number(data['index']) ?? 0;
    switch (data['type']) {
      case 'content_block_start':
        return this.#start(event, index);
      case 'content_block_delta':
        return this.#delta(event, index);
      case 'content_block_stop':
        return this.#open.delete(index) ? ending([index], event) : null;
      case 'message_delta':
      case 'message_stop':
      case 'error':
        return this.#end(event);
      default:
        return null;
    }
  }

  finish(): Reading | null {
    return this.#end(null);
  }

  blocked(message: string): StreamEvent {
    const error = { type: 'guardrail_blocked', code: 'guardrail_intervention', message };
    return { name: 'error', data: { type: 'error', error } };
  }

  #start(event: StreamEvent, index: number): Reading | null {
    const { data } = event;
    const block = object(data['content_block']);
    if (block?.['type'] !== 'text') return null;
    this.#open.add(index);
    const begun = text(block['text']) ?? '';
    if (begun === '') return null;
    return {
      pieces: [{ channel: String(index), text: begun, final: false }],
      write: ([may = '']) =>
        may === begun ? [event] : [{ ...event, data: { ...data, content_block: { ...block, text: may } } }],
    };
  }

  #delta(event: StreamEvent, index: number): Reading | null {
    const { data } = event;
    const delta = object(data['delta']);
    const added = text(delta?.['text']);
    if (delta === undefined || added === undefined) return null;
    this.#open.add(index);
    return {
      pieces: [{ channel: String(index), text: added, final: false }],
      write: ([may = '']) => {
        if (may === added) return [event];
        return may === '' ? [] : [{ ...event, data: { ...data, delta: { ...delta, text: may } } }];
      },
    };
  }

  #end(event: StreamEvent | null): Reading | null {
    if (this.#open.size === 0) return null;
    const open = [...this.#open];
    this.#open.clear();
    return ending(open, event);
  }
}

/** What was held back of the texts that end, and then the event that ends them. */
function ending(open: readonly number[], event: StreamEvent | null): Reading {
  return {
    pieces: open.map((index) => ({ channel: String(index), text: '', final: true })),
    write: (released) => [
      ...open.flatMap((index, at) => restOf(index, released[at] ?? '')),
      ...(event === null ? [] : [event]),
    ],
  };
}

function restOf(index: number, rest: string): StreamEvent[] {
  if (rest === '') return [];
  const data: JsonObject = { type: 'content_block_delta', index, delta: { type: 'text_delta', text: rest } };
  return [{ name: 'content_block_delta', data }];
}
