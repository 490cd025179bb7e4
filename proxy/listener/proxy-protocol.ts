import { isIPv4 as isIpv4, isIPv6 as isIpv6 } from 'node:net';

/** Addresses that a load balancer in front put before the client's bytes. */
export interface ProxyHeader {
  /** Null for `UNKNOWN` (v1), `LOCAL` and unspecified families (v2): the socket's own addresses stand. */
  readonly addresses: {
    readonly sourceAddress: string;
    readonly sourcePort: number;
    readonly destinationAddress: string;
    readonly destinationPort: number;
  } | null;
}

export type ProxyHeaderOutcome =
  | { readonly kind: 'more' }
  | { readonly kind: 'header'; readonly header: ProxyHeader; readonly used: number }
  /** The bytes do not begin with a PROXY header at all. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'malformed'; readonly detail: string };

export type ProxyVersions = 'v1' | 'v2' | 'all';

/** Longest version 1 line with its CRLF. */
const V1_MAX_BYTES = 107;
const V2_FIXED_BYTES = 16;
/** Addresses and extensions (TLVs, which are skipped) of version 2. */
const V2_MAX_PAYLOAD_BYTES = 512;

const V1_SIGNATURE = Buffer.from('PROXY ', 'latin1');
const V2_SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** Reads a PROXY protocol header at the start of a connection. A header of a version that is not accepted is malformed. */
export function parseProxyHeader(bytes: Buffer, versions: ProxyVersions): ProxyHeaderOutcome {
  if (startsAlike(bytes, V1_SIGNATURE)) {
    if (bytes.length < V1_SIGNATURE.length) return { kind: 'more' };
    return versions === 'v2' ? malformed('version 1 is not accepted here') : parseV1(bytes);
  }
  if (startsAlike(bytes, V2_SIGNATURE)) {
    if (bytes.length < V2_FIXED_BYTES) return { kind: 'more' };
    return versions === 'v1' ? malformed('version 2 is not accepted here') : parseV2(bytes);
  }
  return { kind: 'absent' };
}

function parseV1(bytes: Buffer): ProxyHeaderOutcome {
  const end = bytes.subarray(0, V1_MAX_BYTES).indexOf('\r\n');
  if (end === -1) {
    return bytes.length < V1_MAX_BYTES ? { kind: 'more' } : malformed(`no line end within ${V1_MAX_BYTES} bytes`);
  }
  const [, family, source, destination, sourcePort, destinationPort, ...rest] = bytes
    .toString('latin1', 0, end)
    .split(' ');
  const used = end + 2;
  if (family === 'UNKNOWN') return { kind: 'header', header: { addresses: null }, used };
  if (family !== 'TCP4' && family !== 'TCP6') return malformed('the family is none of TCP4, TCP6, UNKNOWN');
  const isAddress = family === 'TCP4' ? isIpv4 : isIpv6;
  if (source === undefined || destination === undefined || rest.length > 0) return malformed('it needs six fields');
  if (!isAddress(source) || !isAddress(destination)) return malformed(`an address is not of family ${family}`);
  const ports = [portOf(sourcePort), portOf(destinationPort)];
  if (ports[0] === undefined || ports[1] === undefined) return malformed('a port is not a number up to 65535');
  return {
    kind: 'header',
    header: {
      addresses: {
        sourceAddress: source,
        sourcePort: ports[0],
        destinationAddress: destination,
        destinationPort: ports[1],
      },
    },
    used,
  };
}

function parseV2(bytes: Buffer): ProxyHeaderOutcome {
  const versionAndCommand = bytes.readUInt8(12);
  const familyAndTransport = bytes.readUInt8(13);
  const payloadBytes = bytes.readUInt16BE(14);
  if (versionAndCommand >> 4 !== 2) return malformed(`unknown version ${versionAndCommand >> 4}`);
  if (payloadBytes > V2_MAX_PAYLOAD_BYTES) return malformed(`more than ${V2_MAX_PAYLOAD_BYTES} bytes of addresses`);
  const used = V2_FIXED_BYTES + payloadBytes;
  if (bytes.length < used) return { kind: 'more' };
  const command = versionAndCommand & 0x0f;
  if (command === 0) return { kind: 'header', header: { addresses: null }, used };
  if (command !== 1) return malformed(`unknown command ${command}`);
  return v2Addresses(bytes.subarray(V2_FIXED_BYTES, used), familyAndTransport >> 4, used);
}

function v2Addresses(payload: Buffer, family: number, used: number): ProxyHeaderOutcome {
  if (family === 0 || family === 3) return { kind: 'header', header: { addresses: null }, used };
  if (family !== 1 && family !== 2) return malformed(`unknown address family ${family}`);
  const size = family === 1 ? 4 : 16;
  if (payload.length < size * 2 + 4) return malformed('the addresses are cut off');
  const format = family === 1 ? formatIpv4 : formatIpv6;
  return {
    kind: 'header',
    header: {
      addresses: {
        sourceAddress: format(payload.subarray(0, size)),
        destinationAddress: format(payload.subarray(size, size * 2)),
        sourcePort: payload.readUInt16BE(size * 2),
        destinationPort: payload.readUInt16BE(size * 2 + 2),
      },
    },
    used,
  };
}

function malformed(detail: string): ProxyHeaderOutcome {
  return { kind: 'malformed', detail };
}

function startsAlike(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length);
  return length > 0 && bytes.compare(signature, 0, length, 0, length) === 0;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^(0|[1-9][0-9]{0,4})$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65535 ? port : undefined;
}

function formatIpv4(bytes: Buffer): string {
  return bytes.join('.');
}

function formatIpv6(bytes: Buffer): string {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(bytes.readUInt16BE(i).toString(16));
  // The URL parser is the platform's own writer of the canonical (RFC 5952) form.
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}
