import type { KeyPress } from './keys.ts';

/** The text of a one-line prompt after a key; undefined when the key means nothing to it. */
export function editText(text: string, key: KeyPress): string | undefined {
  switch (key.name) {
    case 'backspace':
    case 'delete':
    case 'ctrl-h':
      return [...text].slice(0, -1).join('');
    case 'ctrl-u':
      return '';
    case 'ctrl-w':
      return text.trimEnd().replace(/\S+$/, '');
    default:
      return key.text === '' ? undefined : (text + key.text).slice(0, 200);
  }
}

/** How well `query` fits `candidate` when its letters may be apart: higher is better, undefined is no match. */
export function fuzzyScore(query: string, candidate: string): number | undefined {
  const wanted = query.toLowerCase().replaceAll(' ', '');
  const text = candidate.toLowerCase();
  let at = -1;
  let score = 0;
  for (const letter of wanted) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    const startsWord = next === 0 || /[\s/-]/.test(text[next - 1] ?? '');
    score += next === at + 1 ? 3 : startsWord ? 2 : 0;
    at = next;
  }
  return score - text.length / 1000;
}
