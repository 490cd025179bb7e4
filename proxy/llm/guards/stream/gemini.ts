import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { list, number, object, objects, parseObject, text } from '../../json.ts';
import { mapObject } from '../text/change.ts';
import type { EventTexts, Piece, Reading, Scopes, StreamEvent } from './contract.ts';

/** Gemini: what each candidate says and thinks, and the arguments of each call, which come whole. */
export class GeminiEvents implements EventTexts {
  readonly #scopes: Scopes;
  /** Texts that go on: whose they are, and the last event of each. */
  readonly #open = new Map<string, OpenText>();
  #calls = 0;

  constructor(scopes: Scopes) {
    this.#scopes = scopes;
  }

  read(event: StreamEvent): Reading | null {
    const { data } = event;
    const read = objects(data['candidates']).map((candidate, position) => this.#candidate(candidate, position, data));
    const pieces = read.flatMap((each) => each.pieces);
    if (pieces.length === 0) return null;
    return {
      pieces,
      write: (released) => {
        if (pieces.every((piece, index) => piece.text === released[index])) return [event];
        let at = 0;
        const candidates = read.map(({ candidate, pieces: own }) => {
          const texts = released.slice(at, at + own.length);
          at += own.length;
          return own.every((piece, index) => piece.text === texts[index])
            ? candidate
            : withTexts(candidate, { pieces: own, texts, scopes: this.#scopes });
        });
        return [{ ...event, data: { ...data, candidates } }];
      },
    };
  }

  finish(): Reading | null {
    if (this.#open.size === 0) return null;
    const open = [...this.#open];
    this.#open.clear();
    return {
      pieces: open.map(([channel, { scope }]) => ({ channel, scope, text: '', final: true })),
      write: (released) =>
        open.flatMap(([, { index, scope, data }], at): StreamEvent[] => {
          const rest = released[at] ?? '';
          if (rest === '') return [];
          const { usageMetadata: _usage, ...like } = data;
          const content = { role: 'model', parts: [partOf(scope, rest)] };
          return [{ name: null, data: { ...like, candidates: [{ index, content }] } }];
        }),
    };
  }

  blocked(message: string, status: number): StreamEvent {
    const details = [{ type: 'guardrail_blocked', code: 'guardrail_intervention' }];
    return { name: null, data: { error: { code: status, message, status: 'PERMISSION_DENIED', details } } };
  }

  #candidate(candidate: JsonObject, position: number, data: JsonObject): ReadCandidate {
    const index = number(candidate['index']) ?? position;
    const parts = list(object(candidate['content'])?.['parts']) ?? [];
    const pieces = parts.flatMap((part) => this.#piece(part, index));
    for (const { channel, scope } of pieces) if (scope !== 'toolInput') this.#open.set(channel, { index, scope, data });
    if ((text(candidate['finishReason']) ?? '') === '') return { candidate, pieces };
    // What ends a candidate ends its texts.
    for (const [channel, { index: of, scope }] of this.#open) {
      if (of !== index) continue;
      this.#open.delete(channel);
      const last = pieces.findLastIndex((piece) => piece.channel === channel);
      const ended = { channel, scope, text: pieces[last]?.text ?? '', final: true };
      if (last === -1) pieces.push(ended);
      else pieces[last] = ended;
    }
    return { candidate, pieces };
  }

  #piece(part: JsonValue, index: number): Piece[] {
    const read = isJsonObject(part) ? textOf(part) : undefined;
    if (read === undefined || !this.#scopes.has(read.scope)) return [];
    const called = read.scope === 'toolInput';
    const channel = called ? `${index}/call/${this.#calls++}` : `${index}/${read.scope}`;
    return [{ channel, ...read, final: called }];
  }
}

interface OpenText {
  readonly index: number;
  readonly scope: ContentScope;
  readonly data: JsonObject;
}

interface ReadCandidate {
  readonly candidate: JsonObject;
  readonly pieces: readonly Piece[];
}

const CALLS = ['functionCall', 'function_call'] as const;

/** The text of a part; the arguments of a call as JSON. */
function textOf(part: JsonObject): Pick<Piece, 'scope' | 'text'> | undefined {
  const said = text(part['text']);
  if (said !== undefined) return { scope: part['thought'] === true ? 'reasoning' : 'messages', text: said };
  const args = CALLS.map((name) => object(object(part[name])?.['args'])).find((each) => each !== undefined);
  return args === undefined ? undefined : { scope: 'toolInput', text: JSON.stringify(args) };
}

function withText(part: JsonObject, scope: ContentScope, next: string): JsonObject {
  if (scope !== 'toolInput') return { ...part, text: next };
  const args = parseObject(next) ?? {};
  return CALLS.reduce((changed, name) => mapObject(changed, name, (call) => ({ ...call, args })), part);
}

function partOf(scope: ContentScope, said: string): JsonObject {
  return scope === 'reasoning' ? { text: said, thought: true } : { text: said };
}

interface Texts {
  readonly pieces: readonly Piece[];
  readonly texts: readonly string[];
  readonly scopes: Scopes;
}

/** The candidate with other texts, and without what would tell again what was masked. */
function withTexts(candidate: JsonObject, { pieces, texts, scopes }: Texts): JsonObject {
  const { logprobsResult: _logprobs, ...rest } = candidate;
  const content = object(candidate['content']) ?? { role: 'model' };
  let next = 0;
  const parts: JsonValue[] = (list(content['parts']) ?? []).map((part) => {
    const read = isJsonObject(part) ? textOf(part) : undefined;
    if (!isJsonObject(part) || read === undefined || !scopes.has(read.scope)) return part;
    return withText(part, read.scope, texts[next++] ?? '');
  });
  for (const [index, { scope }] of [...pieces.entries()].slice(next)) {
    const left = texts[index] ?? '';
    if (left !== '') parts.push(partOf(scope, left));
  }
  const grounding = object(rest['groundingMetadata']);
  const { groundingSupports: _supports, ...sources } = grounding ?? {};
  return {
    ...rest,
    ...(grounding === undefined ? {} : { groundingMetadata: sources }),
    content: { ...content, parts },
  };
}
