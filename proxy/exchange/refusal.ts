import { Headers } from './headers.ts';

/** Why the gateway itself answered; the access log's `reason`, the metric's label and the `x-gw-reason` header. */
export type Reason =
  | 'DirectResponse'
  | 'NotFound'
  | 'NoHealthyBackend'
  | 'Internal'
  | 'InvalidRequest'
  | 'JwtAuth'
  | 'Oidc'
  | 'BasicAuth'
  | 'APIKeyAuth'
  | 'ExtAuth'
  | 'Authorization'
  | 'Timeout'
  | 'ExtProc'
  | 'RateLimit'
  | 'Guardrail'
  | 'MCP'
  | 'UpstreamFailure';

/** Tells clients the reason, in every answer that the gateway itself made. */
export const REASON_HEADER = 'x-gw-reason';

/** An answer that the gateway makes instead of an upstream: expected, so a value and not an exception. */
export interface Refusal {
  readonly status: number;
  readonly reason: Reason;
  /** Plain text for the client, and the log's `error`. */
  readonly message: string;
  /** The log's `error` instead, where the client must not know. */
  readonly logged?: string | undefined;
  /** What went wrong, for programs, where the protocol of the client has a place for it. */
  readonly code?: string | undefined;
  readonly headers?: Headers | undefined;
  /** Sent as it stands instead of the message, with no type of its own: what a policy service wants the client to see. */
  readonly body?: Uint8Array | undefined;
  /** What a gRPC client gets; by default what the status stands for. */
  readonly grpcStatus?: number | undefined;
  /** The body is empty although there is a message (413 and 502 of the buffer policy). */
  readonly bodyless?: boolean | undefined;
}

export function refuse(status: number, reason: Reason, message: string): Refusal {
  return { status, reason, message };
}
