const SEPARATOR = '__thought__';

/**
 * Gemini wants the signatures of its thoughts back with the calls that they led to; clients of chat completions have no place
 * for them but the ids of calls.
 */
export function withSignature(id: string, signature: string | undefined): string {
  return signature === undefined || signature === '' ? id : `${id}${SEPARATOR}${signature}`;
}

/** The signature that an id carries. */
export function signatureIn(id: string): string | undefined {
  const at = id.indexOf(SEPARATOR);
  const signature = at === -1 ? '' : id.slice(at + SEPARATOR.length);
  return signature === '' ? undefined : signature;
}
