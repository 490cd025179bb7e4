import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { list, number, object, objects, text } from '../../json.ts';
import type { EventTexts, Piece, Reading, StreamEvent } from './contract.ts';

/** Gemini: one text for each candidate. */
export class GeminiEvents implements EventTexts {
  /** Candidates whose text goes on, and the last event of each. */
  readonly #open = new Map<number, JsonObject>();

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
          return own.every((piece, index) => piece.text === texts[index]) ? candidate : withTexts(candidate, texts);
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
      pieces: open.map(([index]) => ({ channel: String(index), text: '', final: true })),
      write: (released) =>
        open.flatMap(([index, data], at): StreamEvent[] => {
          const rest = released[at] ?? '';
          if (rest === '') return [];
          const { usageMetadata: _usage, ...like } = data;
          const content = { role: 'model', parts: [{ text: rest }] };
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
    const channel = String(index);
    const finished = (text(candidate['finishReason']) ?? '') !== '';
    const texts = list(object(candidate['content'])?.['parts'])?.flatMap((part) => visible(part) ?? []) ?? [];
    if (texts.length > 0) this.#open.set(index, data);
    if (texts.length === 0 && !(finished && this.#open.has(index))) return { candidate, pieces: [] };
    if (finished) this.#open.delete(index);
    const all = texts.length === 0 ? [''] : texts;
    const pieces = all.map((each, at): Piece => ({ channel, text: each, final: finished && at === all.length - 1 }));
    return { candidate, pieces };
  }
}

interface ReadCandidate {
  readonly candidate: JsonObject;
  readonly pieces: readonly Piece[];
}

function visible(part: JsonValue): string | undefined {
  return isJsonObject(part) && part['thought'] !== true ? text(part['text']) : undefined;
}

/** The candidate with other texts, and without what would tell again what was masked. */
function withTexts(candidate: JsonObject, texts: readonly string[]): JsonObject {
  const { logprobsResult: _logprobs, ...rest } = candidate;
  const content = object(candidate['content']) ?? { role: 'model' };
  let next = 0;
  const parts: JsonValue[] = (list(content['parts']) ?? []).map((part) =>
    isJsonObject(part) && visible(part) !== undefined ? { ...part, text: texts[next++] ?? '' } : part,
  );
  for (const left of texts.slice(next)) if (left !== '') parts.push({ text: left });
  const grounding = object(rest['groundingMetadata']);
  const { groundingSupports: _supports, ...sources } = grounding ?? {};
  return {
    ...rest,
    ...(grounding === undefined ? {} : { groundingMetadata: sources }),
    content: { ...content, parts },
  };
}
