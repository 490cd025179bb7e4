import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import { mapField, mapItems, mapObject } from '../text/change.ts';
import type { EventTexts, Piece, Reading, StreamEvent } from './contract.ts';

/** A text of the stream as clients have got it. */
interface Told {
  text: string;
  /** The last event that added to it; what is left of it leaves in the like of it. */
  last: StreamEvent | null;
  ended: boolean;
}

/** Fields of a part, by its type. */
const FIELDS: Readonly<Record<string, 'text' | 'refusal'>> = { output_text: 'text', text: 'text', refusal: 'refusal' };

/**
 * OpenAI responses: one text for each part of an item. Later events tell whole texts again: they tell what the client has
 * got.
 */
export class ResponsesEvents implements EventTexts {
  readonly #texts = new Map<string, Told>();
  #number: number | null = null;

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    switch (data['type']) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#delta(event);
      case 'response.output_text.done':
        return this.#whole(event, [{ channel: partOf(data), text: text(data['text']) ?? '' }]);
      case 'response.refusal.done':
        return this.#whole(event, [{ channel: partOf(data), text: text(data['refusal']) ?? '' }]);
      case 'response.content_part.added':
        return this.#added(event);
      case 'error':
        return this.#ending(event);
      default:
        return this.#telling(event);
    }
  }

  finish(): Reading | null {
    return this.#ending(null);
  }

  /** Events are numbered without gaps, whatever was left out or added. */
  seal(event: StreamEvent): StreamEvent {
    const given = number(event.data['sequence_number']);
    if (given === undefined) return event;
    const next = this.#number ?? given;
    this.#number = next + 1;
    return next === given ? event : { ...event, data: { ...event.data, sequence_number: next } };
  }

  /** With an `error` of its own beside the fields of the event: clients of the vendor only heed that. */
  blocked(message: string): StreamEvent {
    const code = 'guardrail_intervention';
    const error = { type: 'guardrail_blocked', code, message };
    return { name: 'error', data: { type: 'error', code, message, param: null, sequence_number: 0, error } };
  }

  #delta(event: StreamEvent): Reading {
    const { data } = event;
    const channel = partOf(data);
    const told = this.#told(channel);
    told.last = event;
    const piece = { channel, text: text(data['delta']) ?? '', final: false };
    return {
      pieces: [piece],
      write: ([may = '']) => {
        told.text += may;
        if (may === piece.text) return [event];
        return may === '' ? [] : [deltaOf(event, may, piece.text)];
      },
    };
  }

  /** A part begins; what it begins with is text as well. */
  #added(event: StreamEvent): Reading | null {
    const part = object(event.data['part']);
    const field = FIELDS[text(part?.['type']) ?? ''];
    const begun = field === undefined ? '' : (text(part?.[field]) ?? '');
    if (part === undefined || field === undefined || begun === '') return null;
    const told = this.#told(partOf(event.data));
    return {
      pieces: [{ channel: partOf(event.data), text: begun, final: false }],
      write: ([may = '']) => {
        told.text += may;
        if (may === begun) return [event];
        return [{ ...event, data: { ...event.data, part: { ...part, [field]: may } } }];
      },
    };
  }

  /** Events that tell parts, items or the response again. */
  #telling(event: StreamEvent): Reading | null {
    const found: WholeText[] = [];
    rewritten(event.data, (channel, whole) => {
      found.push({ channel, text: whole });
      return whole;
    });
    return found.length === 0 ? null : this.#whole(event, found);
  }

  /** Ends texts that are told whole. Texts that nobody streamed are looked at here. */
  #whole(event: StreamEvent, wholes: readonly WholeText[]): Reading {
    const due = wholes.flatMap(({ channel, text: whole }) => {
      const told = this.#texts.get(channel);
      if (told?.ended === true) return [];
      const made = told ?? this.#told(channel);
      made.ended = true;
      return [
        {
          told: made,
          streamed: told !== undefined,
          piece: { channel, text: told === undefined ? whole : '', final: true },
        },
      ];
    });
    return {
      pieces: due.map(({ piece }) => piece),
      write: (released) => {
        const rests: StreamEvent[] = [];
        due.forEach(({ told, streamed }, index) => {
          const rest = released[index] ?? '';
          told.text += rest;
          if (streamed && rest !== '' && told.last !== null) rests.push(deltaOf(told.last, rest, ''));
        });
        const as = (channel: string, whole: string): string => {
          const told = this.#texts.get(channel);
          return whole === '' || told === undefined ? whole : told.text;
        };
        const data = rewritten(event.data, as);
        return [...rests, data === event.data ? event : { ...event, data }];
      },
    };
  }

  #ending(event: StreamEvent | null): Reading | null {
    const open = [...this.#texts].filter(([, told]) => !told.ended);
    if (open.length === 0) return null;
    const pieces: Piece[] = open.map(([channel]) => ({ channel, text: '', final: true }));
    for (const [, told] of open) told.ended = true;
    return {
      pieces,
      write: (released) => [
        ...open.flatMap(([, { last }], index) => {
          const rest = released[index] ?? '';
          return rest === '' || last === null ? [] : [deltaOf(last, rest, '')];
        }),
        ...(event === null ? [] : [event]),
      ],
    };
  }

  #told(channel: string): Told {
    const known = this.#texts.get(channel);
    if (known !== undefined) return known;
    const told: Told = { text: '', last: null, ended: false };
    this.#texts.set(channel, told);
    return told;
  }
}

interface WholeText {
  readonly channel: string;
  readonly text: string;
}

function partOf(data: JsonObject): string {
  return `${number(data['output_index']) ?? 0}/${number(data['content_index']) ?? 0}`;
}

/** The tokens with their chances would tell what was masked. */
function deltaOf({ name, data }: StreamEvent, delta: string, before: string): StreamEvent {
  const logprobs = delta === before || data['logprobs'] === undefined ? {} : { logprobs: [] };
  const { obfuscation: _padding, ...rest } = data;
  return { name, data: { ...rest, delta, ...logprobs } };
}

type Rewrite = (channel: string, text: string) => string;

/** Whole texts wherever an event may tell them: a text itself, a part, an item, a response. */
function rewritten(data: JsonObject, rewrite: Rewrite): JsonObject {
  const output = number(data['output_index']) ?? 0;
  const content = number(data['content_index']) ?? 0;
  const type = data['type'];
  if (type === 'response.output_text.done')
    return rewrittenField(data, 'text', (whole) => rewrite(`${output}/${content}`, whole));
  if (type === 'response.refusal.done')
    return rewrittenField(data, 'refusal', (whole) => rewrite(`${output}/${content}`, whole));
  const parted = mapObject(data, 'part', (part) => rewrittenPart(part, `${output}/${content}`, rewrite));
  const itemed = mapObject(parted, 'item', (item) => rewrittenItem(item, output, rewrite));
  return mapObject(itemed, 'response', (response) =>
    mapField(response, 'output', (items) =>
      Array.isArray(items) ? mapIndexed(items, (item, index) => rewrittenItem(item, index, rewrite)) : items,
    ),
  );
}

function rewrittenItem(item: JsonObject, output: number, rewrite: Rewrite): JsonObject {
  if (item['type'] !== 'message') return item;
  return mapField(item, 'content', (content) =>
    Array.isArray(content)
      ? mapIndexed(content, (part, index) => rewrittenPart(part, `${output}/${index}`, rewrite))
      : content,
  );
}

function mapIndexed(
  list: readonly JsonValue[],
  map: (item: JsonObject, index: number) => JsonObject,
): readonly JsonValue[] {
  let index = -1;
  return mapItems(list, (item) => {
    index++;
    return isJsonObject(item) ? map(item, index) : item;
  });
}

function rewrittenPart(part: JsonObject, channel: string, rewrite: Rewrite): JsonObject {
  const field = FIELDS[text(part['type']) ?? ''];
  return field === undefined ? part : rewrittenField(part, field, (whole) => rewrite(channel, whole));
}

function rewrittenField(of: JsonObject, field: string, rewrite: (whole: string) => string): JsonObject {
  const whole = text(of[field]) ?? '';
  if (whole === '') return of;
  const next = rewrite(whole);
  if (next === whole) return of;
  return { ...of, [field]: next, ...(of['logprobs'] === undefined ? {} : { logprobs: [] }) };
}
