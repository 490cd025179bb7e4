/** When the text of a streamed answer reached the transport; `performance.now()`. */
export class LlmPace {
  #textCame = false;
  firstTextAt: number | null = null;
  lastAt: number | null = null;

  /** A part of the answer that a person reads was met; it leaves with the bytes that leave next. */
  textCame(): void {
    this.#textCame = true;
  }

  /** Bytes of the answer were handed to the transport. */
  left(now: number): void {
    if (!this.#textCame) return;
    this.firstTextAt ??= now;
    this.lastAt = now;
  }
}
