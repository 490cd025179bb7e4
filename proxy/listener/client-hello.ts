/** What a TLS client says before anything is encrypted. */
export interface ClientHello {
  /** Lower case, without a trailing dot; null when the client named none. */
  readonly serverName: string | null;
  readonly alpn: readonly string[];
}

export type ClientHelloOutcome =
  | { readonly kind: 'more' }
  | { readonly kind: 'hello'; readonly hello: ClientHello }
  | { readonly kind: 'malformed'; readonly detail: string };

/** Longest handshake message that is gathered; a hello with post-quantum key shares takes about 2 KiB. */
export const MAX_HELLO_BYTES = 32 * 1024;

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const MAX_RECORD_BYTES = 16 * 1024;
const EXTENSION_SERVER_NAME = 0;
const EXTENSION_ALPN = 16;

/** Reads the ClientHello at the start of a connection without changing anything; it may be spread over several records. */
export function parseClientHello(bytes: Buffer): ClientHelloOutcome {
  const gathered = gatherHandshake(bytes);
  if (!Buffer.isBuffer(gathered)) return gathered;
  try {
    return { kind: 'hello', hello: readHello(gathered) };
  } catch (error) {
    if (error instanceof BeyondEnd) return malformed('a length in the hello points beyond its end');
    throw error;
  }
}

/** Puts the fragments of the first handshake message together. */
function gatherHandshake(bytes: Buffer): Buffer | ClientHelloOutcome {
  const fragments: Buffer[] = [];
  let gathered = 0;
  for (let at = 0; ;) {
    const refused = refuseRecord(bytes.subarray(at));
    if (refused !== null) return refused;
    if (bytes.length < at + 5) return { kind: 'more' };
    const length = bytes.readUInt16BE(at + 3);
    const fragment = bytes.subarray(at + 5, at + 5 + length);
    fragments.push(fragment);
    gathered += fragment.length;
    const message = fragments.length === 1 ? fragment : Buffer.concat(fragments, gathered);
    const wanted = messageLength(message);
    if (typeof wanted !== 'number') return wanted;
    if (gathered >= wanted) return message.subarray(4, wanted);
    if (fragment.length < length) return { kind: 'more' };
    at += 5 + length;
  }
}

function refuseRecord(record: Buffer): ClientHelloOutcome | null {
  if (record.length > 0 && record[0] !== HANDSHAKE_RECORD) return malformed('the first record is not a handshake');
  if (record.length > 1 && record[1] !== 3) return malformed('the record is of no TLS version');
  if (record.length < 5) return null;
  const length = record.readUInt16BE(3);
  return length === 0 || length > MAX_RECORD_BYTES ? malformed(`a record of ${length} bytes`) : null;
}

/** Length of the whole message with its own four-byte head; infinite until that head is there. */
function messageLength(message: Buffer): number | ClientHelloOutcome {
  if (message.length > 0 && message[0] !== CLIENT_HELLO) return malformed('the first message is not a ClientHello');
  if (message.length < 4) return Number.POSITIVE_INFINITY;
  const length = message.readUIntBE(1, 3);
  return length > MAX_HELLO_BYTES ? malformed(`a ClientHello of ${length} bytes`) : length + 4;
}

function readHello(hello: Buffer): ClientHello {
  // Version and random, then session id, cipher suites and compression methods, each with its length in front.
  let at = 34;
  at += 1 + uint8(hello, at);
  at += 2 + uint16(hello, at);
  at += 1 + uint8(hello, at);
  let serverName: string | null = null;
  let alpn: readonly string[] = [];
  if (at === hello.length) return { serverName, alpn };
  const extensions = vector(hello, at);
  for (at = 0; at < extensions.length;) {
    const kind = uint16(extensions, at);
    const content = vector(extensions, at + 2);
    if (kind === EXTENSION_SERVER_NAME) serverName = readServerName(content);
    else if (kind === EXTENSION_ALPN) alpn = readAlpn(content);
    at += 4 + content.length;
  }
  return { serverName, alpn };
}

function readServerName(content: Buffer): string | null {
  const list = vector(content, 0);
  for (let at = 0; at < list.length;) {
    const name = vector(list, at + 1);
    if (uint8(list, at) === 0) {
      const text = name.toString('latin1').toLowerCase();
      return text.endsWith('.') ? text.slice(0, -1) : text;
    }
    at += 3 + name.length;
  }
  return null;
}

function readAlpn(content: Buffer): string[] {
  const list = vector(content, 0);
  const protocols: string[] = [];
  for (let at = 0; at < list.length;) {
    const length = uint8(list, at);
    if (at + 1 + length > list.length) throw new BeyondEnd();
    protocols.push(list.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return protocols;
}

/** The bytes of a vector with a two-byte length in front. */
function vector(bytes: Buffer, at: number): Buffer {
  const length = uint16(bytes, at);
  if (at + 2 + length > bytes.length) throw new BeyondEnd();
  return bytes.subarray(at + 2, at + 2 + length);
}

function uint8(bytes: Buffer, at: number): number {
  const value = bytes[at];
  if (value === undefined) throw new BeyondEnd();
  return value;
}

function uint16(bytes: Buffer, at: number): number {
  return uint8(bytes, at) * 256 + uint8(bytes, at + 1);
}

class BeyondEnd extends Error {}

function malformed(detail: string): ClientHelloOutcome {
  return { kind: 'malformed', detail };
}
