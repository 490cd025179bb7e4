/** What a redraw has to know of the terminal, read anew for each. */
export interface TerminalSize {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/*
 * Each frame hides the cursor and the wrapping of long lines and gives both back, so that nothing is left to restore
 * however the process ends or is suspended.
 */
const BEGIN = '\u001B[?25l\u001B[?7l';
const END = '\u001B[?7h\u001B[?25h';
const CLEAR_SCREEN = '\u001B[H\u001B[2J';
const CLEAR_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';

/** A text on a terminal that is drawn over itself when it changes; lines beyond the height are counted, not drawn. */
export class RedrawnText {
  readonly #size: TerminalSize;
  readonly #write: (text: string) => Promise<void>;
  #lines = 0;
  #drawn = '';

  constructor(size: TerminalSize, write: (text: string) => Promise<void>) {
    this.#size = size;
    this.#write = write;
  }

  /** Draws lines that end in a line end. */
  async show(text: string): Promise<void> {
    const { columns = 80, rows = 24 } = this.#size;
    const key = `${columns} ${rows} ${text}`;
    if (key === this.#drawn) return;
    const resized = this.#drawn !== '' && !this.#drawn.startsWith(`${columns} ${rows} `);
    this.#drawn = key;
    const lines = fitted(text.replace(/\n$/, '').split('\n'), Math.max(2, rows - 1));
    // Lines of another width may have been wrapped by the terminal: where they begin is not known any more.
    const start = resized ? CLEAR_SCREEN : this.#lines === 0 ? '' : `\u001B[${this.#lines}A\r`;
    this.#lines = lines.length;
    const body = lines.map((line) => `${line}${CLEAR_LINE}\n`).join('');
    await this.#write(`${BEGIN}${start}${body}${CLEAR_BELOW}${END}`);
  }
}

/** A line may stay behind for the cursor. */
function fitted(lines: readonly string[], height: number): readonly string[] {
  if (lines.length <= height) return lines;
  const kept = lines.slice(0, height - 1);
  return [...kept, `… ${lines.length - kept.length} more lines`];
}
