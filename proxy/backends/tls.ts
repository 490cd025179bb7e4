import type { SecureContext } from 'node:tls';

/** TLS of connections to one origin, ready to use: certificates are parsed, defaults filled. */
export interface OriginTls {
  readonly context: SecureContext;
  /** SNI; undefined for IP literals. */
  readonly servername: string | undefined;
  /** Name or IP address that the certificate has to carry when `verify` is `full`. */
  readonly verifyName: string;
  readonly verify: 'full' | 'chain' | 'none';
  /** When present they replace the verification of `verifyName`; may hold URIs (`spiffe://…`). */
  readonly subjectAltNames: readonly string[] | undefined;
  readonly alpn: readonly string[];
}
