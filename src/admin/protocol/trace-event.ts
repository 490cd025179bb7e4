/**
 * The events of `/debug/trace`. One JSON object per event; times are microseconds since the trace began (monotonic).
 * `requestId`, `startTime` (first event only) and the type `dropped` extend the protocol; readers that do not know
 * them can ignore them.
 */
export type Severity = 'success' | 'info' | 'warn' | 'error';

export interface TraceEvent {
  /** Set only for timed events. */
  readonly eventStart: number | null;
  readonly eventEnd: number;
  readonly severity: Severity;
  /** Nesting of calls that the gateway makes for a request (`mirror`, `ext_authz`, …); absent at the top. */
  readonly scope?: readonly string[];
  /** Which request this event belongs to; on every event of a `follow` stream and on each first event. */
  readonly requestId?: string;
  /** Wall clock of time zero, RFC 3339 with microseconds; on the first event of each request. */
  readonly startTime?: string;
  readonly message: TraceMessage;
}

export type TraceMessage =
  | { readonly type: 'requestStarted' }
  | { readonly type: 'requestSnapshot'; readonly stage: string; readonly requestState: RequestState }
  | { readonly type: 'responseSnapshot'; readonly stage: string; readonly requestState: RequestState }
  /** `body` is base64; `truncated` counts the bytes beyond the recorded limit. */
  | { readonly type: 'bodySnapshot'; readonly stage: string; readonly body: string; readonly truncated?: number }
  | { readonly type: 'cel'; readonly expr: string; readonly requestState: RequestState; readonly result: unknown }
  | {
      readonly type: 'routeSelection';
      readonly selectedRoute: string | null;
      readonly evaluatedRoutes: readonly string[];
      /** Extension: for each route that lost, the first thing that did not match. */
      readonly rejectedRoutes?: readonly RejectedRoute[];
    }
  | { readonly type: 'policySelection'; readonly phase: PolicyPhase; readonly effectivePolicy: Record<string, unknown> }
  | { readonly type: 'policy'; readonly kind: string; readonly result: PolicyResult }
  | { readonly type: 'policyEvent'; readonly kind: string; readonly details: string | Record<string, unknown> }
  | { readonly type: 'traceSampling'; readonly decision: string }
  | { readonly type: 'llmRouteResolved'; readonly provider: string; readonly routeType: string }
  | {
      readonly type: 'llmRequestDetected';
      readonly provider: string;
      readonly inputFormat: string;
      readonly upstreamRouteType: string | null;
      readonly requestModel: string | null;
      readonly streaming: boolean;
    }
  | {
      readonly type: 'llmStreamingTranslation';
      readonly provider: string;
      readonly inputFormat: string;
      readonly upstreamRouteType: string | null;
      readonly streamFormat: string;
    }
  | {
      readonly type: 'authorizationResult';
      readonly rules: readonly RuleOutcome[];
      readonly result: 'allow' | 'deny';
    }
  /** Extension: what a client wants of MCP servers, and what became of it. */
  | ({ readonly type: 'mcpRequest' } & McpSaid)
  | ({ readonly type: 'mcpResponse' } & McpBecame)
  /** Extension: one message to one MCP server on the client's behalf; the scope names the server. */
  | ({ readonly type: 'mcpCallStart'; readonly target: string; readonly transport: string } & McpSaid)
  | ({ readonly type: 'mcpCallResult'; readonly target: string } & McpBecame)
  /** Extension: `request` is method and path, where the request of the client does not tell them. */
  | { readonly type: 'backendCallStart'; readonly target: string; readonly request?: string | undefined }
  | { readonly type: 'backendCallResult'; readonly status: number | null; readonly error: string | null }
  | { readonly type: 'requestFinished'; readonly status: number | null; readonly error: string | null }
  /** Extension: the reader was too slow, `count` events are missing here. */
  | { readonly type: 'dropped'; readonly count: number }
  /** Made by a client about the stream itself; never sent by a server. */
  | { readonly type: 'message'; readonly text: string };

/** What a message to an MCP server is: `stream` waits for what it says unasked, `end` ends a session. */
export type McpKind = 'request' | 'notification' | 'answer' | 'stream' | 'end';

/** A message to an MCP server, or what stands for one. */
export interface McpFacts {
  readonly kind: McpKind;
  /** Null for what is no message with a method. */
  readonly method: string | null;
  /** The tool, prompt, resource or task that it is about, as its receiver calls it. */
  readonly item: string | null;
  readonly protocolVersion: string | null;
  /** A digest: the id itself is a credential. */
  readonly session: string | null;
}

export interface McpSaid extends McpFacts {
  /** The message, base64; absent where there is none. */
  readonly body?: string;
  readonly truncated?: number;
}

export interface McpBecame extends McpFacts {
  /**
   * `result`; `error`, of JSON-RPC or of a tool (`isError`); `accepted` where no answer is due; `ended` without one;
   * `failed` where there was none; `cancelled`; `unsupported` where the server has no such thing.
   */
  readonly outcome: McpOutcome;
  /** Of the error of JSON-RPC. */
  readonly code: number | null;
  /** Of the answer of HTTP, where that is what failed. */
  readonly status: number | null;
  /** Of the error or the failure. */
  readonly error: string | null;
  /** What came before the answer. */
  readonly notifications: number;
  readonly requests: number;
  readonly isError?: boolean;
  /** The answer, base64. */
  readonly body?: string;
  readonly truncated?: number;
}

export type McpOutcome = 'result' | 'error' | 'accepted' | 'ended' | 'failed' | 'cancelled' | 'unsupported';

export type PolicyPhase =
  | 'frontend'
  | 'listenerFrontend'
  | 'gateway'
  | 'route'
  | 'backend'
  | 'subBackend'
  | 'inlineBackend';

export type PolicyResult =
  | { readonly type: 'skip'; readonly reason: string }
  | { readonly type: 'apply'; readonly details: string; readonly snapshot: RequestState | null };

export interface RuleOutcome {
  /** The expression. */
  readonly name: string;
  readonly matched: boolean;
  /** `allow`, `deny` or `require`. */
  readonly mode: string;
  /** Extension: the resource that says so. */
  readonly source?: string;
}

export interface RejectedRoute {
  readonly route: string;
  /** `hostname`, `path`, `method`, `header x-team`, `query page`, or `precedence` for a match that came second. */
  readonly failed: string;
  readonly expected: string;
  readonly actual: string | null;
}

/** What an expression could see at that moment; empty parts are left out. */
export interface RequestState {
  readonly request?: {
    readonly method?: string;
    readonly uri?: string;
    readonly path?: string;
    readonly pathAndQuery?: string;
    readonly host?: string;
    readonly scheme?: string;
    readonly version?: string;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    /** base64 */
    readonly body?: string;
    readonly startTime?: string;
    readonly endTime?: string;
  };
  readonly response?: {
    readonly code?: number;
    readonly grpcStatus?: number;
    readonly headers?: Readonly<Record<string, string | readonly string[]>>;
    /** base64 */
    readonly body?: string;
  };
  readonly proxy?: {
    readonly bind?: string;
    readonly gateway?: { readonly namespace: string; readonly name: string };
    readonly listener?: { readonly name: string };
    readonly route?: {
      readonly namespace: string;
      readonly name: string;
      readonly kind?: string;
      readonly rule?: string;
    };
    readonly requestProcessingDuration?: string;
    readonly upstreamDuration?: string;
    readonly responseProcessingDuration?: string;
  };
  readonly source?: Readonly<Record<string, unknown>>;
  readonly destination?: Readonly<Record<string, unknown>>;
  readonly backend?: { readonly name: string; readonly type: string; readonly protocol: string };
  readonly env?: Readonly<Record<string, unknown>>;
  readonly [variable: string]: unknown;
}
