import type { Calling } from '../../targets/contract.ts';

/** A call that turns into another one on its way: what the client says about it holds for whatever it is then. */
export class Relayed implements Calling {
  #current: Calling | null = null;
  #paused = false;
  #cancelled = false;

  become(calling: Calling): void {
    this.#current = calling;
    if (this.#cancelled) calling.cancel();
    else if (this.#paused) calling.pause();
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#current?.cancel();
  }

  pause(): void {
    this.#paused = true;
    this.#current?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#current?.resume();
  }
}
