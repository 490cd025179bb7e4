import { isToken } from '../exchange/grammar.ts';
import { Headers } from '../exchange/headers.ts';
import { Http1Error } from './limits.ts';

/** Controls other than HTAB, a CR without LF and an LF without CR (RFC 9112 section 2.2). */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const MAX_CACHED_NAMES = 2048;

/** Refuses text that holds anything a field or start line must not. */
export function checkOctets(head: string): void {
  if (FORBIDDEN.test(head)) throw new Http1Error(400, 'control character, bare CR or bare LF in the head');
}

/**
 * Parses field lines. Names recur from message to message, so their lower-case form is looked up instead of computed
 * (a third of the parsing time in profiles).
 */
export class FieldParser {
  readonly #lower = new Map<string, string>();
  readonly #keepSpelling: boolean;

  constructor(options: { readonly keepSpelling: boolean }) {
    this.#keepSpelling = options.keepSpelling;
  }

  /** `text` holds lines that each end in CRLF, from `at` to its end; octets are already checked. */
  parse(text: string, at: number, maxHeaders: number): Headers {
    const names: string[] = [];
    const values: string[] = [];
    const headers = new Headers(names, values);
    let position = at;
    while (position < text.length) {
      const end = text.indexOf('\r\n', position);
      const colon = text.indexOf(':', position);
      if (colon === -1 || colon > end) throw new Http1Error(400, 'field line without a colon');
      if (names.length === maxHeaders) throw new Http1Error(431, `more than ${maxHeaders} header fields`);
      const raw = text.slice(position, colon);
      const lower = this.#lowerName(raw);
      names.push(lower);
      values.push(trimmed(text, colon + 1, end));
      if (this.#keepSpelling && lower !== raw) headers.spell(names.length - 1, raw);
      position = end + 2;
    }
    return headers;
  }

  #lowerName(raw: string): string {
    const known = this.#lower.get(raw);
    if (known !== undefined) return known;
    if (!isToken(raw)) {
      throw new Http1Error(400, /^[ \t]/.test(raw) ? 'folded field line' : 'invalid field name');
    }
    const lower = raw.toLowerCase();
    // A slice would keep its whole head alive; the copy keeps only the name.
    if (this.#lower.size < MAX_CACHED_NAMES) this.#lower.set(Buffer.from(raw, 'latin1').toString('latin1'), lower);
    return lower;
  }
}

function trimmed(text: string, start: number, end: number): string {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
