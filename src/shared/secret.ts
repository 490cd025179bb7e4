import { inspect } from 'node:util';

export const REDACTED = '<redacted>';

/** A value that must never be shown: every printing of it, JSON and inspection included, reads `<redacted>`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself, for the one place that sends or compares it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}
