import type { Secret } from '../../shared/secret.ts';

/** PEM text, and the file that it came from when it came from one (watched, named in messages and dumps). */
export interface PemSource {
  readonly pem: string;
  readonly file?: string | undefined;
}

export interface SecretPemSource {
  readonly pem: Secret;
  readonly file?: string | undefined;
}

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** `X25519MLKEM768` is the hybrid post-quantum group; names as OpenSSL spells them. */
export type KeyExchangeGroup = 'X25519' | 'P-256' | 'P-384' | 'X25519MLKEM768';

/** How a listener terminates TLS. */
export interface TlsServer {
  readonly mode: 'static' | 'dynamicCa';
  readonly cert: PemSource;
  readonly key: SecretPemSource;
  /** Client CA bundle; when present a client certificate is required and verified. */
  readonly root?: PemSource | undefined;
  /** OpenSSL names in order of preference; undefined is the gateway's default list. */
  readonly cipherSuites?: readonly string[] | undefined;
  readonly minVersion?: TlsVersion | undefined;
  readonly maxVersion?: TlsVersion | undefined;
  readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined;
}

/** How a connection to a backend originates TLS. */
export interface BackendTls {
  readonly cert?: PemSource | undefined;
  readonly key?: SecretPemSource | undefined;
  /** Undefined: the system's roots. */
  readonly root?: PemSource | undefined;
  /** SNI and the name to verify; undefined is the host that is dialled. */
  readonly hostname?: string | undefined;
  /** `none` trusts anything, `chain` verifies the chain but not the name. */
  readonly verify: 'full' | 'chain' | 'none';
  readonly alpn?: readonly string[] | undefined;
  readonly subjectAltNames?: readonly string[] | undefined;
  readonly keyExchangeGroups?: readonly KeyExchangeGroup[] | undefined;
}
