import type { SecureContext } from 'node:tls';

/** TLS of connections to one origin, ready to use: certificates are parsed, defaults filled. */
export interface OriginTls {
  readonly context: SecureContext;
  /** SNI and the name that is verified; undefined for IP literals. */
  readonly servername: string | undefined;
  readonly verify: 'full' | 'chain' | 'none';
  /** When present they replace the verification of `servername`; may hold URIs (`spiffe://…`). */
  readonly subjectAltNames: readonly string[] | undefined;
  readonly alpn: readonly string[];
}
