/** What one data thread tells of MCP; plain data. Times are milliseconds since the epoch, 0 for never. */
export interface McpReport {
  readonly targets: readonly TargetReport[];
  readonly sessions: readonly SessionsReport[];
}

export interface TargetReport {
  /** `<key of the backend>/<name>` */
  readonly key: string;
  /** Requests that were sent to it. */
  readonly calls: number;
  /** Those of them that it left without an answer, or answered with a failure of HTTP. */
  readonly failures: number;
  /** Those that it answered with an error of JSON-RPC. */
  readonly errors: number;
  readonly answeredAt: number;
  readonly failedAt: number;
  /** The first failure since it answered last. */
  readonly failingSince: number;
  /** In words, of the failure at `failedAt`. */
  readonly lastError: string | null;
  /** Protocol versions that conversations have agreed on, the last one last. */
  readonly versions: readonly string[];
  /** As it calls itself. */
  readonly server: ServerFacts | null;
  readonly tools: ToolsReport | null;
  /** Null where it is no program. */
  readonly programs: ProgramsReport | null;
}

export interface ServerFacts {
  readonly name: string;
  readonly version: string;
}

/** Its tools as it has listed them last, under its own names. */
export interface ToolsReport {
  readonly count: number;
  /** The first of them. */
  readonly names: readonly string[];
  /** There are more pages, which nobody has asked for. */
  readonly more: boolean;
  readonly at: number;
}

export interface ProgramsReport {
  /** For a conversation. */
  readonly running: number;
  /** Those that wait for one. */
  readonly spare: number;
  /** Programs that took the place of one that had ended. */
  readonly restarts: number;
  /** None is started before. */
  readonly notBefore: number;
}

/** Sessions of one backend, told apart by numbers that are the same in every thread. */
export interface SessionsReport {
  /** Key of the backend. */
  readonly backend: string;
  /** By the targets that they have a session or a program of. */
  readonly groups: readonly { readonly targets: readonly string[]; readonly ids: Float64Array }[];
  /** Sessions that clients have ended here lately: copies in other threads are of no use any more. */
  readonly ended: Float64Array;
}
