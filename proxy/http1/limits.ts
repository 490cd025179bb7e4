/** Request line or status line and fields; more is an attack or a mistake. */
export const DEFAULT_MAX_HEAD_BYTES = 64 * 1024;
export const DEFAULT_MAX_HEADERS = 100;
/** Chunk extensions are skipped, not kept; more than this in one body is an attack. */
export const MAX_CHUNK_EXTENSION_BYTES = 16 * 1024;
/** Empty lines in front of one head. */
export const MAX_EMPTY_LINE_BYTES = 64;
/** 1xx responses to one request. */
export const MAX_INTERIM_RESPONSES = 256;
export const MAX_TRAILER_BYTES = 16 * 1024;

/** A message that breaks RFC 9112; `status` is what a client is told, a broken upstream is a failed call. */
export class Http1Error extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Http1Error';
    this.status = status;
  }
}
