import { lateLibrary } from '../../../../src/shared/late-library.ts';
import type { Span } from './search.ts';

/** Countries whose numbers are known when they are written without a prefix. */
const COUNTRIES = ['US', 'GB', 'DE', 'IL', 'IN', 'CA', 'BR'] as const;

/** Tells which candidates are numbers that somebody could be called by. */
export type Verify = (candidate: string) => boolean;

/** Loads the library. */
export function phoneVerifier(): Verify {
  const { parsePhoneNumberFromString: parse } = lateLibrary('libphonenumber-js/max');
  return (candidate) =>
    COUNTRIES.some((country) => parse(candidate, { defaultCountry: country, extract: false })?.isValid() === true);
}

const AT_START = /^[+()]?[0-9]/;

/** The candidate without the character before it; `text` is what was found at `span`. */
export function candidateIn(text: string, span: Span): Span {
  if (span.start === 0 && AT_START.test(text)) return span;
  const rune = text.codePointAt(0) ?? 0;
  return { start: span.start + (rune > 0xffff ? 2 : 1), end: span.end };
}
