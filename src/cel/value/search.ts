/** Above this product of lengths the built-in search may take seconds for texts that are made for it. */
const MAX_NATIVE_WORK = 1 << 14;

/** The first place of a part at or behind `from`, -1 for none; the time grows with the lengths, never with their product. */
export function findText(text: string, part: string, from = 0): number {
  if ((text.length - from) * part.length <= MAX_NATIVE_WORK || part.length < 2) return text.indexOf(part, from);
  return findLinear(text, part, from);
}

/** The last place of a part at or before `from`. */
export function findTextBackwards(text: string, part: string, from: number = text.length): number {
  if (text.length * part.length <= MAX_NATIVE_WORK) return text.lastIndexOf(part, from);
  let found = -1;
  for (let at = findText(text, part); at !== -1 && at <= from; at = findText(text, part, at + 1)) found = at;
  return found;
}

export function hasText(text: string, part: string): boolean {
  return findText(text, part) !== -1;
}

/** The pieces between the places of a separator that is not empty. */
export function splitText(text: string, separator: string): string[] {
  if (text.length * separator.length <= MAX_NATIVE_WORK) return text.split(separator);
  const pieces: string[] = [];
  let start = 0;
  for (let at = findText(text, separator); at !== -1; at = findText(text, separator, start)) {
    pieces.push(text.slice(start, at));
    start = at + separator.length;
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** Knuth, Morris and Pratt: never looks back in the text. */
function findLinear(text: string, part: string, from: number): number {
  const borders = bordersOf(part);
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (unit === part.charCodeAt(matched)) matched++;
    if (matched === part.length) return i - part.length + 1;
  }
  return -1;
}

/** For each prefix, how long the longest part is that it both begins and ends with. */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let i = 1; i < part.length; i++) {
    while (length > 0 && part.charCodeAt(i) !== part.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(i) === part.charCodeAt(length)) length++;
    borders[i] = length;
  }
  return borders;
}
