import { badRequest } from '../failure.ts';

/** What a segment of a path may have as it is (RFC 3986 section 3.3). */
const ESCAPED = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]/gu;

/** A name as one segment of a path. Throws an `LlmFailure` for names that are none, or that lead elsewhere. */
export function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') throw badRequest(`${JSON.stringify(name)} is no name of a model`);
  return name.replace(ESCAPED, (character) => encodeURIComponent(character.toWellFormed()));
}

/** Without the first of the prefixes that it starts with. */
export function without(name: string, ...prefixes: readonly string[]): string {
  const prefix = prefixes.find((each) => name.startsWith(each));
  return prefix === undefined ? name : name.slice(prefix.length);
}
