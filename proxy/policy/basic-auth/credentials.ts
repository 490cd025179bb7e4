/** Longer than any tool makes; what hashing costs grows with it. */
const MAX_PASSWORD_BYTES = 512;
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface Credentials {
  readonly name: string;
  readonly password: string;
}

/** `user:password` in UTF-8 and base64 (RFC 7617 section 2); null for what is malformed, or too long to be a password. */
export function parseCredentials(encoded: string): Credentials | null {
  const bytes = Buffer.from(encoded, 'base64');
  // The decoder skips what it does not know; only the one spelling of these bytes is accepted.
  if (bytes.toString('base64') !== encoded) return null;
  const text = decode(bytes);
  if (text === null || CONTROL.test(text)) return null;
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  const password = text.slice(colon + 1);
  if (Buffer.byteLength(password) > MAX_PASSWORD_BYTES) return null;
  return { name: text.slice(0, colon), password };
}

function decode(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}
