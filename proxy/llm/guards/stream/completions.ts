import type { JsonObject } from '../../../exchange/attributes.ts';
import { isJsonObject } from '../../../exchange/attributes.ts';
import { compact, number, object, objects, text } from '../../json.ts';
import type { EventTexts, Piece, Reading, StreamEvent } from './contract.ts';

/** OpenAI chat completions: one text for each choice. */
export class CompletionsEvents implements EventTexts {
  /** Choices whose text goes on, and the last event of each. */
  readonly #open = new Map<string, JsonObject>();

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    const choices = objects(data['choices']);
    const read = choices.map((choice, position) => this.#choice(choice, position, data));
    const pieces = read.flatMap(({ piece }) => (piece === null ? [] : [piece]));
    if (pieces.length === 0) return null;
    return {
      pieces,
      write: (released) =>
        pieces.every((piece, index) => piece.text === released[index]) ? [event] : written(data, read, released),
    };
  }

  finish(): Reading | null {
    if (this.#open.size === 0) return null;
    const open = [...this.#open];
    this.#open.clear();
    return {
      pieces: open.map(([channel]) => ({ channel, text: '', final: true })),
      write: (released) =>
        open.flatMap(([channel, data], index) => restOf(data, Number(channel), released[index] ?? '')),
    };
  }

  blocked(message: string): StreamEvent {
    return {
      name: null,
      data: { error: { message, type: 'guardrail_blocked', param: null, code: 'guardrail_intervention' } },
    };
  }

  #choice(choice: JsonObject, position: number, data: JsonObject): ReadChoice {
    const index = number(choice['index']) ?? position;
    const channel = String(index);
    const added = text(object(choice['delta'])?.['content']);
    const finished = (text(choice['finish_reason']) ?? '') !== '';
    if (added !== undefined) this.#open.set(channel, data);
    if (added === undefined && !(finished && this.#open.has(channel))) return { choice, index, piece: null };
    if (finished) this.#open.delete(channel);
    return { choice, index, piece: { channel, text: added ?? '', final: finished } };
  }
}

interface ReadChoice {
  readonly choice: JsonObject;
  readonly index: number;
  readonly piece: Piece | null;
}

function written(data: JsonObject, read: readonly ReadChoice[], released: readonly string[]): StreamEvent[] {
  const before: StreamEvent[] = [];
  let next = 0;
  const choices = read.map(({ choice, index, piece }) => {
    if (piece === null) return choice;
    const may = released[next++] ?? '';
    if (may === piece.text) return choice;
    if (!piece.final) return withContent(choice, may);
    // A text that was held back comes before what ends it.
    before.push(...restOf(data, index, may));
    return withContent(choice, '');
  });
  const event = { ...data, choices };
  return saysSomething(event) ? [...before, { name: null, data: event }] : before;
}

/** The tokens with their chances would tell what was masked. */
function withContent(choice: JsonObject, content: string): JsonObject {
  const { content: _content, ...delta } = object(choice['delta']) ?? {};
  const logprobs = isJsonObject(choice['logprobs']) ? { logprobs: null } : {};
  return { ...choice, ...logprobs, delta: content === '' ? delta : { ...delta, content } };
}

function saysSomething({ choices, usage }: JsonObject): boolean {
  if (isJsonObject(usage)) return true;
  return objects(choices).some(
    (choice) =>
      (text(choice['finish_reason']) ?? '') !== '' ||
      Object.values(object(choice['delta']) ?? {}).some((value) => value !== null && value !== ''),
  );
}

/** An event with the rest of a text, made like another one. */
function restOf(data: JsonObject, index: number, content: string): StreamEvent[] {
  if (content === '') return [];
  const { usage, ...rest } = data;
  const choices = [{ index, delta: { content }, finish_reason: null }];
  // Where usage is asked for, every event has the field.
  return [{ name: null, data: compact({ ...rest, choices, usage: usage === undefined ? undefined : null }) }];
}
