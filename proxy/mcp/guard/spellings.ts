/** RFC 3986 section 2.3. */
const UNRESERVED = /[\w.~-]/;
/** A way up, or a slash that some take for another one. */
const CLIMBS = /(?:^|[/\\])\.{1,2}(?:[/\\?#]|$)|\\/;

/**
 * Addresses that servers take for the same as `uri`, as they read addresses in their normal form (RFC 3986 section 6.2.2, and
 * the URL standard): in other cases, with escapes for letters, or with ways up. Most addresses have none: what only stands
 * there in escapes, or without them, as `URL` wants it counts as written.
 */
export function otherSpellings(uri: string): readonly string[] {
  const plain = uri.replaceAll(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return UNRESERVED.test(character) ? character : escape;
  });
  const whole = decoded(uri);
  const read = CLIMBS.test(whole) ? whole : plain;
  const href = URL.parse(read)?.href ?? read;
  const others = loose(href) === loose(read) ? [plain] : [href, decoded(href)];
  return others.filter((other) => other !== uri);
}

function loose(uri: string): string {
  return decoded(uri).replace(/\/$/, '');
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
