/** What became of a call of an agent, as far as its answer tells. */
export type A2aOutcome = 'success' | 'error' | 'unknown';

/** What a call is written in: JSON-RPC, an address of the HTTP binding, gRPC, or none of them. */
export type A2aBinding = 'jsonRpc' | 'http' | 'grpc' | 'other';

/** What is known of one call of an agent: for logs, metrics and traces. Filled as it goes on; null until it is known. */
export class A2aFacts {
  /** As the client wrote it, or what its path stands for; `unknown` for neither. */
  readonly method: string;
  readonly binding: A2aBinding;
  /** Of JSON-RPC; null where there is none. */
  readonly requestId: string | number | null;
  outcome: A2aOutcome | null = null;
  errorCode: number | string | null = null;
  /** `task`, `message`, `status-update`, …; of a stream, that of the last event. */
  resultKind: string | null = null;
  taskId: string | null = null;
  taskState: string | null = null;
  /** Of a stream; null where the answer is none. */
  events: number | null = null;
  contextId: string | null = null;

  constructor(method: string, binding: A2aBinding, requestId: string | number | null = null) {
    this.method = method;
    this.binding = binding;
    this.requestId = requestId;
  }
}
