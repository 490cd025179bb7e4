const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// oxlint-disable-next-line no-control-regex
const BEYOND_ASCII = /[^\u0000-\u007f]/;

/** The text of a header's octets, one character each: UTF-8, or, when it is none, the octets themselves. */
export function textOf(octets: string): string {
  if (!BEYOND_ASCII.test(octets)) return octets;
  try {
    return utf8.decode(Buffer.from(octets, 'latin1'));
  } catch {
    return octets;
  }
}

/** The octets of a text in UTF-8, one character each, as headers hold them. */
export function octetsOf(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}
