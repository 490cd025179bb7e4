import type { VerifiedJwt } from '../exchange/attributes.ts';

const MAX_TOKENS = 4096;
const MAX_CHARACTERS = 4 * 1024 * 1024;

interface Remembered {
  readonly jwt: VerifiedJwt;
  readonly untilMs: number;
}

/**
 * Tokens that were verified, by their text. Two generations instead of an order of use: a hit in the younger one, the
 * usual case, moves nothing. The engine hashes the text of a key itself, several times faster than SHA-256 would
 * (0.4 µs against 2 µs for a token of 800 characters), and compares the whole of it.
 */
export class VerifiedTokens {
  #young = new Map<string, Remembered>();
  #old = new Map<string, Remembered>();
  #characters = 0;

  /** Null for a token that is not known, or no longer valid. */
  get(token: string, nowMs: number): VerifiedJwt | null {
    const young = this.#young.get(token);
    if (young !== undefined) return young.untilMs >= nowMs ? young.jwt : null;
    const old = this.#old.get(token);
    if (old === undefined || old.untilMs < nowMs) return null;
    this.#add(token, old);
    return old.jwt;
  }

  add(token: string, jwt: VerifiedJwt, untilMs: number): void {
    // A copy: the text may be a part of a whole request head, which it would keep in memory.
    this.#add(Buffer.from(token, 'latin1').toString('latin1'), { jwt, untilMs });
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#characters = 0;
  }

  #add(token: string, remembered: Remembered): void {
    if (this.#young.size >= MAX_TOKENS || this.#characters > MAX_CHARACTERS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#young.set(token, remembered);
    this.#characters += token.length;
  }
}
