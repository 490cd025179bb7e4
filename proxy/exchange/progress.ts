/** Where a request stands, as the engine knows it; read by expressions, logs and traces. */
export interface Progress {
  readonly listenerName: string | null;
  readonly gatewayName: string | null;
  readonly gatewayNamespace: string | null;
  readonly route: {
    readonly name: string;
    readonly namespace: string;
    readonly ruleName?: string | undefined;
  } | null;
  /** `type`: ai, mcp, static, dynamic, service, unknown. `protocol`: http, tcp, a2a, mcp, llm. */
  readonly backendFacts: { readonly name: string; readonly type: string; readonly protocol: string } | null;
  /** `performance.now()` scale; null while not known. */
  readonly upstreamStartedAt: number | null;
  readonly upstreamHeadAt: number | null;
  readonly respondedAt: number | null;
  /** When the last byte of the response had left; only logs see it. */
  readonly endedAt: number | null;
  /** From the response head, or its trailers. */
  readonly grpcStatus: number | null;
  /** The first bytes of bodies that are too large to be held, or are only recorded for the log. */
  readonly bodies: RecordedBodies;
}

/** What has been collected of the bodies for expressions. */
export interface RecordedBodies {
  /** Whole request body; null while unknown or too large. */
  request: Uint8Array | null;
  requestPrefix: Uint8Array | null;
  response: Uint8Array | null;
  responsePrefix: Uint8Array | null;
}
