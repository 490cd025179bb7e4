import type { Rule } from './rule.ts';
import { Search, type Span } from './search.ts';

/** How much of a stream is held back at most for a match that has not ended, characters. */
const MAX_HELD = 8192;

/**
 * Applies one rule to a text that comes in pieces. What leaves is what the rule makes of the whole text; only an end that
 * could still become part of a match waits.
 */
export class Masking {
  readonly #rule: Rule;
  readonly #searches: readonly Search[];
  /** What has not left, and where it begins. */
  #text = '';
  #base = 0;
  /** Found and not replaced yet, by position. */
  #spans: Span[] = [];
  /** Something was found. */
  found = false;

  constructor(rule: Rule, window: number = MAX_HELD) {
    this.#rule = rule;
    this.#searches = rule.programs.map((program) => new Search(program, window));
  }

  /** Takes a piece, gives what may leave now. */
  push(piece: string, final: boolean): string {
    this.#text = this.#text === '' ? piece : this.#text + piece;
    const excerpt = { text: this.#text, base: this.#base, final };
    for (const search of this.#searches) search.scan(excerpt, this.#found);
    let settled = this.#base + this.#text.length;
    if (!final) for (const search of this.#searches) settled = Math.min(settled, search.hold);
    return this.#release(settled);
  }

  readonly #found = (span: Span): void => {
    const { confirm } = this.#rule;
    const text = confirm === null ? '' : this.#text.slice(span.start - this.#base, span.end - this.#base);
    const confirmed = confirm === null ? span : confirm(text, span);
    if (confirmed === null) return;
    this.found = true;
    let at = this.#spans.length;
    while (at > 0 && (this.#spans[at - 1]?.start ?? 0) > confirmed.start) at--;
    this.#spans.splice(at, 0, confirmed);
  };

  /** Everything before `settled` is known. */
  #release(settled: number): string {
    let out = '';
    let at = this.#base;
    const take = (to: number): void => {
      out += this.#text.slice(at - this.#base, to - this.#base);
      at = to;
    };
    let end = settled;
    while (this.#spans.length > 0) {
      const { span, count } = merged(this.#spans);
      if (span.end > settled) {
        end = Math.min(settled, span.start);
        break;
      }
      this.#spans.splice(0, count);
      take(Math.max(at, span.start));
      out += this.#rule.mask;
      at = span.end;
    }
    if (at < end) take(end);
    this.#text = this.#text.slice(at - this.#base);
    this.#base = at;
    return out;
  }
}

/** The first span with those that overlap it. */
function merged(spans: readonly Span[]): { readonly span: Span; readonly count: number } {
  const start = spans[0]?.start ?? 0;
  let end = spans[0]?.end ?? 0;
  let count = 1;
  for (let next = spans[count]; next !== undefined && next.start < end; next = spans[count]) {
    end = Math.max(end, next.end);
    count++;
  }
  return { span: { start, end }, count };
}

/** A whole text with what the rule finds replaced; null when it finds nothing. */
export function maskWhole(rule: Rule, text: string): string | null {
  if (!rule.mayFind(text)) return null;
  const masking = new Masking(rule, Number.POSITIVE_INFINITY);
  const masked = masking.push(text, true);
  return masking.found ? masked : null;
}
