/** Total length, length of the headers, and their checksum. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
/** Lengths of values by type; -1: two bytes say how long. */
const VALUE_BYTES: readonly number[] = [0, 0, 1, 2, 4, 8, -1, -1, 8, 16];

/**
 * The text of an `application/vnd.amazon.eventstream` body as server-sent events, each named by its `:event-type`; undefined
 * for any other body. A last frame that was cut is left out.
 */
export function framesAsEvents(bytes: Buffer): string | undefined {
  const events: string[] = [];
  for (let at = 0; at + PRELUDE_BYTES + CHECKSUM_BYTES <= bytes.length;) {
    const total = bytes.readUInt32BE(at);
    const headers = bytes.readUInt32BE(at + 4);
    const payloadAt = at + PRELUDE_BYTES + headers;
    const payloadEnd = at + total - CHECKSUM_BYTES;
    if (payloadAt > payloadEnd) return undefined;
    if (payloadEnd > bytes.length) break;
    const name = eventType(bytes.subarray(at + PRELUDE_BYTES, payloadAt));
    if (name === undefined) return undefined;
    events.push(`event: ${name}\ndata: ${bytes.toString('utf8', payloadAt, payloadEnd)}\n\n`);
    at += total;
  }
  return events.length === 0 ? undefined : events.join('');
}

/** Of the headers the one that says what the event is; undefined where they are no headers. */
function eventType(headers: Buffer): string | undefined {
  let found = '';
  for (let at = 0; at < headers.length;) {
    const nameEnd = at + 1 + (headers[at] ?? 0);
    const type = headers[nameEnd];
    const fixed = type === undefined ? undefined : VALUE_BYTES[type];
    if (fixed === undefined || nameEnd >= headers.length) return undefined;
    const from = nameEnd + (fixed < 0 ? 3 : 1);
    if (from > headers.length) return undefined;
    const length = fixed < 0 ? headers.readUInt16BE(nameEnd + 1) : fixed;
    const name = headers.toString('utf8', at + 1, nameEnd);
    if (name === ':event-type' || name === ':exception-type') found = headers.toString('utf8', from, from + length);
    at = from + length;
  }
  return found === '' ? undefined : found;
}
