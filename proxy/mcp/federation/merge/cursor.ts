import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonValue } from '../../../../src/shared/json.ts';

/** Where each target's list goes on, by position of the target; targets without an entry are at their end. */
export type Cursors = ReadonlyMap<number, string>;

const macBytes = 16;
/** A cursor in a request is checked before it is decoded; 128 targets with cursors of 1 KiB fit in. */
const maxLength = 256 * 1024;

/**
 * One cursor for the lists of several targets. It carries theirs by name, so it means the same in every thread and after
 * targets have been added; it is bound to its method. Anything else than what was given out is refused: with a key by a
 * mac, without one by its form, which lets nobody do more than hand a target a cursor of his own.
 */
export class CursorCodec {
  readonly #targets: readonly string[];
  readonly #key: Uint8Array | null;

  constructor(targets: readonly string[], key: Uint8Array | null) {
    this.#targets = targets;
    this.#key = key;
  }

  encode(method: string, cursors: Cursors): string {
    const entries = [...cursors].map(([target, cursor]) => [this.#targets[target] ?? '', cursor]);
    const body = Buffer.from(JSON.stringify([method, ...entries]));
    return Buffer.concat([this.#mac(body), body]).toString('base64url');
  }

  /** Null for what is no cursor of this list. */
  decode(method: string, text: string): Cursors | null {
    if (text.length > maxLength) return null;
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.toString('base64url') !== text) return null;
    const body = this.#verified(bytes);
    return body === null ? null : this.#entries(method, parse(body));
  }

  #mac(body: Uint8Array): Buffer {
    if (this.#key === null) return Buffer.alloc(0);
    return createHmac('sha256', this.#key).update('mcp cursor\n').update(body).digest().subarray(0, macBytes);
  }

  #verified(bytes: Buffer): Buffer | null {
    if (this.#key === null) return bytes;
    if (bytes.length <= macBytes) return null;
    const body = bytes.subarray(macBytes);
    return timingSafeEqual(bytes.subarray(0, macBytes), this.#mac(body)) ? body : null;
  }

  #entries(method: string, value: JsonValue | undefined): Cursors | null {
    if (!Array.isArray(value) || value[0] !== method || value.length < 2) return null;
    const cursors = new Map<number, string>();
    for (const entry of value.slice(1)) {
      const [name, cursor] = Array.isArray(entry) && entry.length === 2 ? entry : [];
      const target = typeof name === 'string' ? this.#targets.indexOf(name) : -1;
      if (target === -1 || typeof cursor !== 'string' || cursors.has(target)) return null;
      cursors.set(target, cursor);
    }
    return cursors;
  }
}

function parse(body: Buffer): JsonValue | undefined {
  try {
    // What `JSON.parse` returns is JSON.
    return JSON.parse(body.toString()) as JsonValue;
  } catch {
    return undefined;
  }
}
