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
  readonly #realtime: boolean;

  /** Realtime sessions tell the same in events of the same kind. */
  constructor(realtime = false) {
    this.#realtime = realtime;
  }

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    switch (data['type']) {
      case 'response.output_text.delta':
      case 'response.text.delta':
      case 'response.refusal.delta':
        return this.#delta(event);
      case 'response.output_text.done':
      case 'response.text.done':
        return this.#whole(event, [{ channel: this.#partOf(data), text: text(data['text']) ?? '' }]);
      case 'response.refusal.done':
        return this.#whole(event, [{ channel: this.#partOf(data), text: text(data['refusal']) ?? '' }]);
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
    if (this.#realtime) return { name: null, data: { type: 'error', error } };
    return { name: 'error', data: { type: 'error', code, message, param: null, sequence_number: 0, error } };
  }

  #delta(event: StreamEvent): Reading {
    const { data } = event;
    const channel = this.#partOf(data);
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
    const told = this.#told(this.#partOf(event.data));
    return {
      pieces: [{ channel: this.#partOf(event.data), text: begun, final: false }],
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
    const rewrite = (channel: string, whole: string): string => {
      found.push({ channel, text: whole });
      return whole;
    };
    rewritten(event.data, { named: this.#realtime, rewrite });
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
        const rewrite = (channel: string, whole: string): string => {
          const told = this.#texts.get(channel);
          return whole === '' || told === undefined ? whole : told.text;
        };
        const data = rewritten(event.data, { named: this.#realtime, rewrite });
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

  /** Of a session, items have names; positions are those in an answer. */
  #partOf(data: JsonObject): string {
    return partName(this.#realtime ? text(data['item_id']) : undefined, data);
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

/** The tokens with their chances would tell what was masked. */
function deltaOf({ name, data }: StreamEvent, delta: string, before: string): StreamEvent {
  const logprobs = delta === before || data['logprobs'] === undefined ? {} : { logprobs: [] };
  const { obfuscation: _padding, ...rest } = data;
  return { name, data: { ...rest, delta, ...logprobs } };
}

function partName(item: string | undefined, data: JsonObject): string {
  return `${item ?? number(data['output_index']) ?? 0}/${number(data['content_index']) ?? 0}`;
}

interface Rewriting {
  /** Items go by their names, not by their places. */
  readonly named: boolean;
  readonly rewrite: (channel: string, text: string) => string;
}

/** Whole texts wherever an event may tell them: a text itself, a part, an item, a response. */
function rewritten(data: JsonObject, { named, rewrite }: Rewriting): JsonObject {
  const type = data['type'];
  const own = (whole: string): string => rewrite(partName(named ? text(data['item_id']) : undefined, data), whole);
  if (type === 'response.output_text.done' || type === 'response.text.done') return rewrittenField(data, 'text', own);
  if (type === 'response.refusal.done') return rewrittenField(data, 'refusal', own);
  const itemIn = (item: JsonObject, position: number): JsonObject => {
    const name = named ? text(item['id']) : undefined;
    return rewrittenItem(item, (index, whole) => rewrite(`${name ?? position}/${index}`, whole));
  };
  const parted = mapObject(data, 'part', (part) => rewrittenPart(part, own));
  const itemed = mapObject(parted, 'item', (item) => itemIn(item, number(data['output_index']) ?? 0));
  return mapObject(itemed, 'response', (response) =>
    mapField(response, 'output', (items) => (Array.isArray(items) ? mapIndexed(items, itemIn) : items)),
  );
}

function rewrittenItem(item: JsonObject, rewrite: (index: number, text: string) => string): JsonObject {
  if (item['type'] !== 'message') return item;
  return mapField(item, 'content', (content) =>
    Array.isArray(content)
      ? mapIndexed(content, (part, index) => rewrittenPart(part, (whole) => rewrite(index, whole)))
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

function rewrittenPart(part: JsonObject, rewrite: (text: string) => string): JsonObject {
  const field = FIELDS[text(part['type']) ?? ''];
  return field === undefined ? part : rewrittenField(part, field, rewrite);
}

function rewrittenField(of: JsonObject, field: string, rewrite: (whole: string) => string): JsonObject {
  const whole = text(of[field]) ?? '';
  if (whole === '') return of;
  const next = rewrite(whole);
  if (next === whole) return of;
  return { ...of, [field]: next, ...(of['logprobs'] === undefined ? {} : { logprobs: [] }) };
}
