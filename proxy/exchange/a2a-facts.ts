/** What became of a call of an agent, as far as its answer tells. */
export type A2aOutcome = 'success' | 'error' | 'unknown';

/** What is known of one call of an agent: for logs, metrics and traces. Filled as it goes on; null until it is known. */
export class A2aFacts {
  /** As the client wrote it, or what its path stands for; `unknown` for neither. */
  readonly method: string;
  /** The answer is the result itself, with nothing of JSON-RPC around it. */
  readonly bare: boolean;
  outcome: A2aOutcome | null = null;
  errorCode: number | string | null = null;
  /** `task`, `message`, `status-update`, …; of a stream, that of the last event. */
  resultKind: string | null = null;
  taskState: string | null = null;
  contextId: string | null = null;

  constructor(method: string, bare: boolean) {
    this.method = method;
    this.bare = bare;
  }
}
