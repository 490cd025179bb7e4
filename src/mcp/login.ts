import { isJsonObject, type JsonValue } from '../shared/json.ts';

/** What a server says of its login. */
export interface Login {
  /** Where its metadata are (RFC 9728 section 5.1). */
  readonly metadata: string;
  /** Who gives tokens for it; empty when the metadata cannot be had. */
  readonly servers: readonly string[];
}

const MAX_BYTES = 64 * 1024;
const PARAMETER = /(?:^|[\s,])resource_metadata\s*=\s*(?:"([^"]*)"|([^\s",]+))/i;

/** The address in the header of a refusal; null where it names none. */
export function metadataAddress(challenge: string, server: URL): URL | null {
  const [, quoted, bare] = PARAMETER.exec(challenge) ?? [];
  const url = URL.parse(quoted ?? bare ?? '', server);
  return quoted === undefined && bare === undefined ? null : isHttp(url) ? url : null;
}

function isHttp(url: URL | null): url is URL {
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}

/** Asks for the metadata, without a credential. Never throws: that they are missing must not hide the refusal. */
export async function askLogin(address: URL, get: (url: URL) => Promise<Response>): Promise<Login> {
  const metadata = address.href;
  try {
    const answer = await get(address);
    const text = answer.ok ? await limited(answer) : '';
    // `as`: what `JSON.parse` gives.
    const document = JSON.parse(text) as JsonValue;
    const servers = isJsonObject(document) ? document['authorization_servers'] : undefined;
    return { metadata, servers: Array.isArray(servers) ? servers.flatMap(shown) : [] };
  } catch {
    return { metadata, servers: [] };
  }
}

/** An address that a terminal may show. */
function shown(value: JsonValue): string[] {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (typeof value !== 'string' || !isHttp(url)) return [];
  return [/^[!-~]+$/.test(value) ? value : url.href];
}

async function limited({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // `as`: the runtime's own streams can be walked, and the types of browsers do not say so.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
