const KEPT_CHARACTERS = 16 * 1024;

/** Keeps the end of the gateway's log while a screen owns the terminal: a line written then would tear the picture. */
export class HeldLog {
  #text = '';
  #lost = false;

  async write(text: string): Promise<void> {
    const all = this.#text + text;
    if (all.length <= KEPT_CHARACTERS) {
      this.#text = all;
      return;
    }
    const cut = all.slice(-KEPT_CHARACTERS);
    this.#text = cut.slice(cut.indexOf('\n') + 1);
    this.#lost = true;
  }

  /** What was logged, whole lines, under a line that says what it is; empty when nothing was. */
  release(): string {
    if (this.#text === '') return '';
    return `${this.#lost ? 'the last lines of the log' : 'the log'} while the screen was open:\n${this.#text}`;
  }
}
