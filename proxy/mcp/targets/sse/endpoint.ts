/** The stream that tells it. */
export interface StreamAddress {
  /** `scheme://authority` */
  readonly origin: string;
  /** With its query if it has one. */
  readonly path: string;
}

/**
 * Path and query that messages go to: what the target tells, seen from its stream. Null where that is no address, or one of
 * another server: messages carry credentials. A target behind something that ends TLS may take itself for `http`.
 */
export function endpointPath(stream: StreamAddress, told: string): string | null {
  const base = URL.parse(stream.path, stream.origin);
  const url = base === null ? null : URL.parse(told.trim(), base);
  if (base === null || url === null || url.username !== '' || url.password !== '') return null;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const same = url.protocol === base.protocol ? url.host === base.host : url.hostname === base.hostname;
  return same ? `${url.pathname}${url.search}` : null;
}
