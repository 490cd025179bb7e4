import type { JsonObject } from '../exchange/attributes.ts';

/** Longer texts are not looked at. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;

/** RFC 7515 section 7.1; the signature is empty for tokens that have none. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.([\w-]*)$/;

/** A token taken apart; nothing of it is to be believed yet. */
export interface CompactToken {
  readonly kid: string;
  readonly alg: string;
  /** What the signature is about. */
  readonly signed: string;
  readonly signature: string;
  readonly payload: string;
}

/** Takes a token apart; a text says what is wrong, in the words of the answer to the client. */
export function readCompact(token: string): CompactToken | string {
  if (token.length > MAX_TOKEN_CHARACTERS) return `the token is invalid or malformed: TokenTooLarge`;
  const parts = COMPACT.exec(token);
  if (parts === null) return 'the token header is malformed: not a JSON Web Token';
  const [, head = '', payload = '', signature = ''] = parts;
  const header = readObject(head);
  if (header === null) return 'the token header is malformed: not a JSON object';
  const { alg, kid, crit } = header;
  if (typeof alg !== 'string') return 'the token header is malformed: no algorithm';
  // Extensions that have to be understood (RFC 7515 section 4.1.11): none are.
  if (crit !== undefined) return 'the token header is malformed: unknown critical extension';
  if (kid === undefined) return 'the token header does not specify a `kid`';
  if (typeof kid !== 'string') return 'the token header is malformed: `kid` is not a text';
  return { kid, alg, signature, payload, signed: token.slice(0, head.length + 1 + payload.length) };
}

/** A part of a token that holds a JSON object; null when it does not. */
export function readObject(part: string): JsonObject | null {
  return readObjectText(Buffer.from(part, 'base64url').toString());
}

/** A JSON object; null for anything else. */
export function readObjectText(text: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
    return parsed as JsonObject; // whatever JSON.parse makes of an object is one
  } catch {
    return null;
  }
}
