import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { number, object, text } from '../../json.ts';
import { mapField, mapItems, mapObject } from '../text/change.ts';
import type { EventTexts, Piece, Reading, Scopes, StreamEvent } from './contract.ts';

/** A text of the stream as clients have got it. */
interface Told {
  readonly scope: ContentScope;
  text: string;
  /** The last event that added to it; what is left of it leaves in the like of it. */
  last: StreamEvent | null;
  ended: boolean;
}

interface PartText {
  readonly field: 'text' | 'refusal';
  readonly scope: ContentScope;
}

/** Where parts have their text, by type. */
const PARTS: Readonly<Record<string, PartText>> = {
  output_text: { field: 'text', scope: 'messages' },
  text: { field: 'text', scope: 'messages' },
  refusal: { field: 'refusal', scope: 'messages' },
  summary_text: { field: 'text', scope: 'reasoning' },
  reasoning_text: { field: 'text', scope: 'reasoning' },
};

/** Events that add to a text, by type. */
const DELTAS: Readonly<Record<string, ContentScope>> = {
  'response.output_text.delta': 'messages',
  'response.text.delta': 'messages',
  'response.refusal.delta': 'messages',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'toolInput',
  'response.mcp_call_arguments.delta': 'toolInput',
  'response.custom_tool_call_input.delta': 'toolInput',
  'response.code_interpreter_call_code.delta': 'toolInput',
};

/** Events that tell a whole text, by type, and their field. */
const WHOLES: Readonly<Record<string, readonly [field: string, scope: ContentScope]>> = {
  'response.output_text.done': ['text', 'messages'],
  'response.text.done': ['text', 'messages'],
  'response.refusal.done': ['refusal', 'messages'],
  'response.reasoning_summary_text.done': ['text', 'reasoning'],
  'response.reasoning_text.done': ['text', 'reasoning'],
  'response.function_call_arguments.done': ['arguments', 'toolInput'],
  'response.mcp_call_arguments.done': ['arguments', 'toolInput'],
  'response.custom_tool_call_input.done': ['input', 'toolInput'],
  'response.code_interpreter_call_code.done': ['code', 'toolInput'],
};

/** Items that call something, by type, and the field that says with what. */
const CALLS: Readonly<Record<string, string>> = {
  function_call: 'arguments',
  mcp_call: 'arguments',
  custom_tool_call: 'input',
  code_interpreter_call: 'code',
};

/**
 * OpenAI responses: one text for each part of an item, and the arguments of each call. Later events tell whole texts again:
 * they tell what the client has got.
 */
export class ResponsesEvents implements EventTexts {
  readonly #texts = new Map<string, Told>();
  #number: number | null = null;
  readonly #realtime: boolean;

  readonly #scopes: Scopes;

  /** Realtime sessions tell the same in events of the same kind. */
  constructor(scopes: Scopes, realtime = false) {
    this.#scopes = scopes;
    this.#realtime = realtime;
  }

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    const type = text(data['type']) ?? '';
    const added = DELTAS[type];
    if (added !== undefined) return this.#scopes.has(added) ? this.#delta(event, added) : null;
    const whole = WHOLES[type];
    if (whole !== undefined) {
      const [field, scope] = whole;
      if (!this.#scopes.has(scope)) return null;
      return this.#whole(event, [{ channel: this.#textOf(data, scope), scope, text: text(data[field]) ?? '' }]);
    }
    switch (type) {
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
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

  #delta(event: StreamEvent, scope: ContentScope): Reading {
    const { data } = event;
    const channel = this.#textOf(data, scope);
    const told = this.#told(channel, scope);
    told.last = event;
    const piece = { channel, scope, text: text(data['delta']) ?? '', final: false };
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
    const known = PARTS[text(part?.['type']) ?? ''];
    const begun = known === undefined ? '' : (text(part?.[known.field]) ?? '');
    if (part === undefined || known === undefined || begun === '' || !this.#scopes.has(known.scope)) return null;
    const { field, scope } = known;
    const channel = this.#textOf(event.data, scope);
    const told = this.#told(channel, scope);
    return {
      pieces: [{ channel, scope, text: begun, final: false }],
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
    const rewrite = (channel: string, scope: ContentScope, whole: string): string => {
      if (this.#scopes.has(scope)) found.push({ channel, scope, text: whole });
      return whole;
    };
    rewritten(event.data, { named: this.#realtime, rewrite });
    return found.length === 0 ? null : this.#whole(event, found);
  }

  /** Ends texts that are told whole. Texts that nobody streamed are looked at here. */
  #whole(event: StreamEvent, wholes: readonly WholeText[]): Reading {
    const due = wholes.flatMap(({ channel, scope, text: whole }) => {
      const told = this.#texts.get(channel);
      if (told?.ended === true) return [];
      const made = told ?? this.#told(channel, scope);
      made.ended = true;
      return [
        {
          told: made,
          streamed: told !== undefined,
          piece: { channel, scope, text: told === undefined ? whole : '', final: true },
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
        const rewrite = (channel: string, _scope: ContentScope, whole: string): string => {
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
    const pieces: Piece[] = open.map(([channel, { scope }]) => ({ channel, scope, text: '', final: true }));
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
  #textOf(data: JsonObject, scope: ContentScope): string {
    return textName(this.#realtime ? text(data['item_id']) : undefined, data, scope);
  }

  #told(channel: string, scope: ContentScope): Told {
    const known = this.#texts.get(channel);
    if (known !== undefined) return known;
    const told: Told = { scope, text: '', last: null, ended: false };
    this.#texts.set(channel, told);
    return told;
  }
}

interface WholeText {
  readonly channel: string;
  readonly scope: ContentScope;
  readonly text: string;
}

/** The tokens with their chances would tell what was masked. */
function deltaOf({ name, data }: StreamEvent, delta: string, before: string): StreamEvent {
  const logprobs = delta === before || data['logprobs'] === undefined ? {} : { logprobs: [] };
  const { obfuscation: _padding, ...rest } = data;
  return { name, data: { ...rest, delta, ...logprobs } };
}

/** Summaries are counted by themselves, and a call has its arguments. */
function textName(item: string | undefined, data: JsonObject, scope: ContentScope): string {
  const of = item ?? number(data['output_index']) ?? 0;
  if (scope === 'toolInput') return `${of}/call`;
  const summary = number(data['summary_index']);
  return summary === undefined ? `${of}/${number(data['content_index']) ?? 0}` : `${of}/summary/${summary}`;
}

interface Rewriting {
  /** Items go by their names, not by their places. */
  readonly named: boolean;
  readonly rewrite: (channel: string, scope: ContentScope, text: string) => string;
}

/** Whole texts wherever an event may tell them: a text itself, a part, an item, a response. */
function rewritten(data: JsonObject, { named, rewrite }: Rewriting): JsonObject {
  const own = (scope: ContentScope, whole: string): string =>
    rewrite(textName(named ? text(data['item_id']) : undefined, data, scope), scope, whole);
  const told = WHOLES[text(data['type']) ?? ''];
  if (told !== undefined) return rewrittenField(data, told[0], (whole) => own(told[1], whole));
  const itemIn = (item: JsonObject, position: number): JsonObject => {
    const name = named ? text(item['id']) : undefined;
    return rewrittenItem(item, (of, scope, whole) => rewrite(`${name ?? position}/${of}`, scope, whole));
  };
  const parted = mapObject(data, 'part', (part) => rewrittenPart(part, own));
  const itemed = mapObject(parted, 'item', (item) => itemIn(item, number(data['output_index']) ?? 0));
  return mapObject(itemed, 'response', (response) =>
    mapField(response, 'output', (items) => (Array.isArray(items) ? mapIndexed(items, itemIn) : items)),
  );
}

type RewriteText = (of: string, scope: ContentScope, text: string) => string;

function rewrittenItem(item: JsonObject, rewrite: RewriteText): JsonObject {
  const type = text(item['type']) ?? '';
  const called = CALLS[type];
  if (called !== undefined) return rewrittenField(item, called, (whole) => rewrite('call', 'toolInput', whole));
  if (type !== 'message' && type !== 'reasoning') return item;
  const said = mapField(item, 'content', (content) => rewrittenParts(content, '', rewrite));
  return mapField(said, 'summary', (summary) => rewrittenParts(summary, 'summary/', rewrite));
}

function rewrittenParts(parts: JsonValue, prefix: string, rewrite: RewriteText): JsonValue {
  if (!Array.isArray(parts)) return parts;
  return mapIndexed(parts, (part, index) =>
    rewrittenPart(part, (scope, whole) => rewrite(`${prefix}${index}`, scope, whole)),
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

function rewrittenPart(part: JsonObject, rewrite: (scope: ContentScope, text: string) => string): JsonObject {
  const known = PARTS[text(part['type']) ?? ''];
  return known === undefined ? part : rewrittenField(part, known.field, (whole) => rewrite(known.scope, whole));
}

function rewrittenField(of: JsonObject, field: string, rewrite: (whole: string) => string): JsonObject {
  const whole = text(of[field]) ?? '';
  if (whole === '') return of;
  const next = rewrite(whole);
  if (next === whole) return of;
  return { ...of, [field]: next, ...(of['logprobs'] === undefined ? {} : { logprobs: [] }) };
}
