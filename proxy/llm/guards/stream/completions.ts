import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { compact, list, number, object, objects, text } from '../../json.ts';
import type { EventTexts, Piece, Reading, Scopes, StreamEvent } from './contract.ts';

/**
 * OpenAI chat completions: for each choice what is said, refused and thought, and the arguments of each call. Where answers
 * have a whole `message` beside the deltas, it goes: it would tell again what was masked.
 */
export class CompletionsEvents implements EventTexts {
  readonly #scopes: Scopes;
  /** Texts that go on: choice, and the last event that added to it. */
  readonly #open = new Map<string, OpenText>();

  constructor(scopes: Scopes) {
    this.#scopes = scopes;
  }

  read(event: StreamEvent): Reading | null {
    const data = withoutMessages(event.data);
    const choices = objects(data['choices']);
    const read = choices.map((choice, position) => this.#choice(choice, position, data));
    const pieces = read.flatMap((each) => each.texts.map(({ piece }) => piece));
    if (pieces.length === 0 && data === event.data) return null;
    return {
      pieces,
      write: (released) =>
        data === event.data && pieces.every((piece, index) => piece.text === released[index])
          ? [event]
          : written(data, read, released),
    };
  }

  finish(): Reading | null {
    if (this.#open.size === 0) return null;
    const open = [...this.#open];
    this.#open.clear();
    return {
      pieces: open.map(([channel, { spot }]) => ({ channel, scope: spot.scope, text: '', final: true })),
      write: (released) =>
        open.flatMap(([, { choice, spot, data }], index) => restOf(data, choice, spot.alone(released[index] ?? ''))),
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
    const finished = (text(choice['finish_reason']) ?? '') !== '';
    const texts = spotsOf(object(choice['delta']) ?? {})
      .filter(({ scope }) => this.#scopes.has(scope))
      .map((spot) => ({ spot, added: true, piece: pieceOf(index, spot, finished) }));
    if (!finished) {
      for (const { spot, piece } of texts) this.#open.set(piece.channel, { choice: index, spot, data });
      return { choice, index, texts };
    }
    const here = new Set(texts.map(({ piece }) => piece.channel));
    const others = [...this.#open].filter(([channel, open]) => open.choice === index && !here.has(channel));
    for (const [channel, open] of this.#open) if (open.choice === index) this.#open.delete(channel);
    const ended = others.map(([channel, { spot }]) => ({
      spot,
      added: false,
      piece: { channel, scope: spot.scope, text: '', final: true },
    }));
    return { choice, index, texts: [...ended, ...texts] };
  }
}

interface OpenText {
  readonly choice: number;
  readonly spot: Spot;
  readonly data: JsonObject;
}

/** A text in a delta. */
interface Spot {
  readonly name: string;
  readonly scope: ContentScope;
  readonly text: string;
  /** The delta with another text. */
  put(delta: JsonObject, text: string): JsonObject;
  /** A delta that adds a text, and nothing else; null for none. */
  alone(text: string): JsonObject | null;
}

interface ReadChoice {
  readonly choice: JsonObject;
  readonly index: number;
  /** `added`: it stands in this event, and does not only end with it. */
  readonly texts: readonly { readonly spot: Spot; readonly added: boolean; readonly piece: Piece }[];
}

function pieceOf(choice: number, { name, scope, text: added }: Spot, final: boolean): Piece {
  return { channel: `${choice}/${name}`, scope, text: added, final };
}

/** Services have different names for what a model thinks. */
const FIELDS: readonly (readonly [name: string, scope: ContentScope])[] = [
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['content', 'messages'],
  ['refusal', 'messages'],
];

function spotsOf(delta: JsonObject): Spot[] {
  const spots: Spot[] = [];
  for (const [name, scope] of FIELDS) {
    const value = delta[name];
    if (typeof value === 'string') spots.push(fieldSpot(name, scope, value));
    else if (name === 'content' && Array.isArray(value)) spots.push(partsSpot(value));
  }
  const legacy = object(delta['function_call']);
  if (legacy !== undefined) spots.push(...callSpot(legacy, 'arguments', 'function_call'));
  for (const [at, call] of objects(delta['tool_calls']).entries()) spots.push(...toolSpots(call, at));
  return spots;
}

function fieldSpot(name: string, scope: ContentScope, added: string): Spot {
  return {
    name,
    scope,
    text: added,
    put({ [name]: _before, ...rest }, next) {
      return next === '' ? rest : { ...rest, [name]: next };
    },
    alone: (next) => (next === '' ? null : { [name]: next }),
  };
}

/** Text in parts, as some services have it: the first of them takes all of it. */
function partsSpot(parts: readonly JsonValue[]): Spot {
  const textIn = (part: JsonValue): string | undefined => (isJsonObject(part) ? text(part['text']) : undefined);
  return {
    name: 'content',
    scope: 'messages',
    text: parts.map((part) => textIn(part) ?? '').join(''),
    put(delta, next) {
      const others = parts.filter((part) => textIn(part) === undefined);
      const first = next === '' ? [] : [{ type: 'text', text: next }];
      return { ...delta, content: [...first, ...others] };
    },
    alone: (next) => (next === '' ? null : { content: next }),
  };
}

function callSpot(call: JsonObject, field: 'arguments' | 'input', name: string): Spot[] {
  const added = text(call[field]);
  if (added === undefined) return [];
  return [
    {
      name,
      scope: 'toolInput',
      text: added,
      put: (delta, next) => ({ ...delta, [name]: { ...call, [field]: next } }),
      alone: (next) => (next === '' ? null : { [name]: { [field]: next } }),
    },
  ];
}

/** One call among those of a delta. */
function toolSpots(call: JsonObject, position: number): Spot[] {
  const index = number(call['index']) ?? position;
  const inner = [
    ...callSpot(object(call['function']) ?? {}, 'arguments', 'function'),
    ...callSpot(object(call['custom']) ?? {}, 'input', 'custom'),
  ];
  return inner.map((spot) => ({
    ...spot,
    name: `tool_calls/${index}/${spot.name}`,
    put: (delta, next) => ({
      ...delta,
      tool_calls: (list(delta['tool_calls']) ?? []).map((each) =>
        isJsonObject(each) && each['index'] === call['index'] && each['id'] === call['id']
          ? spot.put(each, next)
          : each,
      ),
    }),
    alone(next) {
      const added = spot.alone(next);
      return added === null ? null : { tool_calls: [{ index, ...added }] };
    },
  }));
}

/** A `message` is read as a delta where there is none. */
function withoutMessages(data: JsonObject): JsonObject {
  const choices = list(data['choices']);
  if (choices === undefined || !choices.some((choice) => isJsonObject(choice) && isJsonObject(choice['message'])))
    return data;
  return {
    ...data,
    choices: choices.map((choice) => {
      if (!isJsonObject(choice)) return choice;
      const { message, ...rest } = choice;
      return isJsonObject(message) && rest['delta'] === undefined ? { ...rest, delta: message } : rest;
    }),
  };
}

function written(data: JsonObject, read: readonly ReadChoice[], released: readonly string[]): StreamEvent[] {
  const before: StreamEvent[] = [];
  let next = 0;
  const choices = read.map(({ choice, index, texts }) => {
    let delta = object(choice['delta']) ?? {};
    let changed = false;
    for (const { spot, added, piece } of texts) {
      const may = released[next++] ?? '';
      if (may === piece.text) continue;
      changed = true;
      // A text that was held back comes before what ends it.
      if (piece.final) before.push(...restOf(data, index, spot.alone(may)));
      if (added) delta = spot.put(delta, piece.final ? '' : may);
    }
    return changed ? withDelta(choice, delta) : choice;
  });
  const event = { ...data, choices };
  return saysSomething(event) ? [...before, { name: null, data: event }] : before;
}

/** The tokens with their chances would tell what was masked. */
function withDelta(choice: JsonObject, delta: JsonObject): JsonObject {
  const logprobs = isJsonObject(choice['logprobs']) ? { logprobs: null } : {};
  return { ...choice, ...logprobs, delta };
}

function saysSomething({ choices, usage }: JsonObject): boolean {
  if (isJsonObject(usage)) return true;
  return objects(choices).some(
    (choice) =>
      (text(choice['finish_reason']) ?? '') !== '' ||
      Object.values(object(choice['delta']) ?? {}).some((value) => !isEmpty(value)),
  );
}

/** A call that adds neither a name nor arguments is nothing. */
function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  if (Array.isArray(value)) return value.every((each) => isJsonObject(each) && isBareCall(each));
  return isJsonObject(value) && Object.keys(value).length > 0 && Object.values(value).every((each) => each === '');
}

function isBareCall({ index: _index, type: _type, ...call }: JsonObject): boolean {
  return Object.values(call).every((each) => isEmpty(each));
}

/** An event with the rest of a text, made like another one. */
function restOf(data: JsonObject, index: number, delta: JsonObject | null): StreamEvent[] {
  if (delta === null) return [];
  const { usage, ...rest } = data;
  const choices = [{ index, delta, finish_reason: null }];
  // Where usage is asked for, every event has the field.
  return [{ name: null, data: compact({ ...rest, choices, usage: usage === undefined ? undefined : null }) }];
}
