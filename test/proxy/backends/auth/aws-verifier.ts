import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { SignatureV4 } from '@smithy/signature-v4';

/** SHA-256 as the vendor's library wants it. */
class Sha256 {
  readonly #parts: (string | Uint8Array)[] = [];
  readonly #secret: string | Uint8Array | undefined;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytes(secret);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#parts.push(typeof data === 'string' ? data : bytes(data));
  }

  digest(): Promise<Uint8Array> {
    const hash = this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
    for (const part of this.#parts) hash.update(part);
    return Promise.resolve(hash.digest());
  }

  reset(): void {
    this.#parts.length = 0;
  }
}

function bytes(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}

export interface Signable {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string | string[]>;
  /** `host` among them. */
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;
}

export interface VendorKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** What the vendor's own library writes into `authorization`. */
export async function vendorSignature(
  { method, path, query, headers, body }: Signable,
  { keys, region, service, at }: { keys: VendorKeys; region: string; service: string; at: Date },
): Promise<string> {
  const signer = new SignatureV4({
    credentials: keys,
    region,
    service,
    sha256: Sha256,
    applyChecksum: service === 's3',
    uriEscapePath: service !== 's3',
  });
  const signed = await signer.sign(
    { method, protocol: 'https:', hostname: headers['host'] ?? '', path, query, headers, body },
    { signingDate: at },
  );
  return signed.headers['authorization'] ?? '';
}

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Whether a request that came is signed with the keys; a text says what is wrong. */
export async function verifySignature(
  { method, url, headers, body }: ReceivedRequest,
  keysOf: (accessKeyId: string) => VendorKeys | undefined,
): Promise<'valid' | string> {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$/.exec(
      headers.authorization ?? '',
    );
  const [, id = '', , region = '', service = '', names = ''] = match ?? [];
  const keys = keysOf(id);
  if (match === null || keys === undefined) return `not signed with known keys: ${headers.authorization}`;
  if ((headers['x-amz-security-token'] ?? '') !== (keys.sessionToken ?? '')) return 'another session token';
  // As it came: a URL would resolve its dots.
  const [pathname = '', search = ''] = url.split('?', 2);
  const searchParams = new URLSearchParams(search);
  const query: Record<string, string[]> = {};
  for (const [name, value] of searchParams) (query[name] ??= []).push(value);
  const own = ['x-amz-date', 'x-amz-security-token'];
  const signed = names.split(';').filter((name) => !own.includes(name));
  const at = String(headers['x-amz-date']).replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, '$1-$2-$3:$4:$5');
  const request = {
    method,
    path: pathname,
    query,
    headers: Object.fromEntries(signed.map((name) => [name, String(headers[name] ?? '')])),
    body,
  };
  const wanted = await vendorSignature(request, { keys, region, service, at: new Date(at) });
  return wanted === headers.authorization ? 'valid' : `expected ${wanted}, found ${headers.authorization}`;
}
