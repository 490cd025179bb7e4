import { width } from '../terminal/text.ts';

/** Breaks lines between words of a text that comes in pieces; the last word waits until it is known to be whole. */
export class WordWrap {
  readonly #columns: number;
  #column = 0;
  #gap = '';
  #word = '';

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** What can be printed now. */
  add(text: string): string {
    let out = '';
    for (const part of text.split(/(\n|[ \t]+)/)) {
      if (part === '') continue;
      if (part === '\n') {
        out += `${this.#place()}\n`;
        this.#column = 0;
        this.#gap = '';
      } else if (/^[ \t]/.test(part)) {
        out += this.#place();
        this.#gap += part;
      } else this.#word += part;
    }
    return out;
  }

  /** The rest, when nothing more comes. */
  end(): string {
    return this.#place();
  }

  /** The word that waits, on this line or on the next; a gap at a break is left out. */
  #place(): string {
    if (this.#word === '') return '';
    const word = this.#word;
    const gap = this.#gap;
    const cells = width(gap) + width(word);
    this.#word = '';
    this.#gap = '';
    if (this.#column > 0 && this.#column + cells > this.#columns) {
      this.#column = width(word);
      return `\n${word}`;
    }
    this.#column += cells;
    return `${gap}${word}`;
  }
}
