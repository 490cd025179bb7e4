import type { KeyPress } from '../terminal/keys.ts';

/** A line that is being written. */
export interface Line {
  readonly text: string;
  /** Where the next character goes, counted in characters. */
  readonly at: number;
}

/** More than a person types, less than what makes a frame slow. */
const MAX_CHARACTERS = 10_000;

export function lineOf(text: string): Line {
  return { text, at: [...text].length };
}

/** The line after a key; undefined when the key means nothing to it. */
export function editLine({ text, at }: Line, key: KeyPress): Line | undefined {
  const characters = [...text];
  const without = (from: number, to: number): Line => ({
    text: [...characters.slice(0, from), ...characters.slice(to)].join(''),
    at: from,
  });
  switch (key.name) {
    case 'left':
      return { text, at: Math.max(0, at - 1) };
    case 'right':
      return { text, at: Math.min(characters.length, at + 1) };
    case 'home':
    case 'ctrl-a':
      return { text, at: 0 };
    case 'end':
    case 'ctrl-e':
      return { text, at: characters.length };
    // Terminals send one for the other.
    case 'backspace':
    case 'ctrl-h':
    case 'delete':
      return at === 0 ? { text, at } : without(at - 1, at);
    case 'ctrl-d':
      return without(at, at + 1);
    case 'ctrl-u':
      return without(0, at);
    case 'ctrl-w':
      return without([...characters.slice(0, at).join('').trimEnd().replace(/\S+$/, '')].length, at);
    default: {
      const typed = [...key.text];
      if (typed.length === 0 || characters.length + typed.length > MAX_CHARACTERS) return undefined;
      return {
        text: [...characters.slice(0, at), ...typed, ...characters.slice(at)].join(''),
        at: at + typed.length,
      };
    }
  }
}
