import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';

import type { BackendTls, PemSource, SecretPemSource } from '../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { systemRoots } from './ca-roots.ts';
import type { OriginTls } from './tls.ts';

/** Offered when nothing narrows it. */
export const HTTP_ALPN: readonly string[] = ['h2', 'http/1.1'];

/** Rotated certificates leave contexts behind that nothing asks for any more. */
const MAX_CONTEXTS = 256;

/** Makes each distinct context once: parsing the machine's roots takes milliseconds. One per compilation or longer. */
export class TlsContexts {
  readonly #contexts = new Map<string, SecureContext>();
  #roots: string[] | undefined;

  /** Throws a `GwError` that names the file at fault. */
  get(tls: BackendTls): SecureContext {
    const key = contextKey(tls);
    let context = this.#contexts.get(key);
    if (context === undefined) {
      context = this.#create(tls);
      const oldest = this.#contexts.size >= MAX_CONTEXTS ? this.#contexts.keys().next() : undefined;
      if (oldest !== undefined && oldest.done !== true) this.#contexts.delete(oldest.value);
      this.#contexts.set(key, context);
    }
    return context;
  }

  #create(tls: BackendTls): SecureContext {
    const identity = checkClientCertificate(tls);
    const ca = tls.root === undefined ? (this.#roots ??= systemRoots()) : checkRoots(tls.root);
    try {
      return createSecureContext({
        ca,
        ...identity,
        minVersion: 'TLSv1.2',
        ...(tls.keyExchangeGroups === undefined ? {} : { ecdhCurve: tls.keyExchangeGroups.join(':') }),
      });
    } catch (error) {
      throw tlsError(`backendTLS cannot be used: ${messageOf(error)}`, error);
    }
  }
}

/**
 * TLS towards one host, ready to dial. `host` is what is dialled (undefined for a unix socket): SNI and the name to verify
 * unless the settings name another. Throws a `GwError`.
 */
export function compileBackendTls(tls: BackendTls, host: string | undefined, contexts: TlsContexts): OriginTls {
  const name = tls.hostname ?? host;
  if (name === undefined && tls.verify === 'full' && tls.subjectAltNames === undefined) {
    throw new GwError('backendTLS of a unix socket has no name to verify', {
      code: 'GW_BACKEND_TLS',
      hint: 'set backendTLS.hostname, or backendTLS.subjectAltNames',
    });
  }
  return {
    context: contexts.get(tls),
    servername: name === undefined || isIP(name) !== 0 ? undefined : name,
    verifyName: name ?? '',
    verify: tls.verify,
    subjectAltNames: tls.subjectAltNames,
    alpn: tls.alpn ?? HTTP_ALPN,
  };
}

/** Tells two TLS settings apart; part of a pool's key, and never reversible to a private key. */
export function backendTlsKey(tls: BackendTls): string {
  const { hostname, verify, alpn, subjectAltNames } = tls;
  return digest([contextKey(tls), hostname, verify, alpn, subjectAltNames]);
}

function contextKey(tls: BackendTls): string {
  return digest([tls.cert?.pem, tls.key?.pem.reveal(), tls.root?.pem, tls.keyExchangeGroups]);
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('base64url')
    .slice(0, 22);
}

function checkClientCertificate({ cert, key }: BackendTls): { cert?: string; key?: string } {
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined) {
    throw tlsError(`backendTLS has a ${cert === undefined ? 'key but no cert' : 'cert but no key'}`);
  }
  const certificate = parse(cert, 'a certificate', () => new X509Certificate(cert.pem));
  const privateKey = parse(key, 'a private key', () => createPrivateKey(key.pem.reveal()));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw tlsError(`backendTLS: ${nameOf(key, 'key')} is not the key of ${nameOf(cert, 'cert')}`);
  }
  return { cert: cert.pem, key: key.pem.reveal() };
}

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function checkRoots(root: PemSource): string[] {
  const certificates = root.pem.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) throw tlsError(`backendTLS: ${nameOf(root, 'root')} holds no PEM certificate`);
  for (const pem of certificates) parse(root, 'a list of certificates', () => new X509Certificate(pem));
  return [...certificates];
}

function parse<T>(source: PemSource | SecretPemSource, wanted: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw tlsError(`backendTLS: ${nameOf(source, 'the inline PEM text')} is not ${wanted} in PEM form`, error);
  }
}

function nameOf(source: PemSource | SecretPemSource, otherwise: string): string {
  return source.file ?? otherwise;
}

function tlsError(message: string, cause?: unknown): GwError {
  return new GwError(message, { code: 'GW_BACKEND_TLS', cause });
}
