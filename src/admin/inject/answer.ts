/** What the client got. */
export interface Answer {
  readonly httpVersion: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly trailers: readonly (readonly [name: string, value: string])[];
  /** The first bytes of the body, up to the limit. */
  readonly body: Buffer;
  readonly bodyBytes: number;
  /** Milliseconds from the first byte sent to the last received. */
  readonly tookMs: number;
  /** What went wrong after the head had arrived. */
  readonly failure: string | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  /** How much of the body is kept; the rest is read and counted. */
  readonly maxBodyBytes: number;
}
