/** Answer of `/config_status`: which configuration is live, which was rejected last and why. */
export interface ConfigStatus {
  readonly live: {
    readonly revision: string;
    /** RFC 3339 */
    readonly since: string;
    /** Path of the file, or how the text was given. */
    readonly source: string;
  };
  /** The last attempt after the live one, when it failed. */
  readonly rejected: {
    /** Null when the text could not be read at all. */
    readonly revision: string | null;
    /** RFC 3339 */
    readonly at: string;
    readonly errors: readonly ConfigError[];
  } | null;
  /**
   * From the live configuration to the rejected one, secrets redacted; empty without a rejected one, and when the rejected
   * text is no YAML.
   */
  readonly diff: readonly ConfigDifference[];
  /** Changed keys of the `config` section that take effect only after a restart. */
  readonly restartNeeded: readonly string[];
}

export interface ConfigError {
  readonly message: string;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
}

export interface ConfigDifference {
  readonly kind: 'added' | 'removed' | 'changed';
  /** `routes[0].name` */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Answer of `/debug/tasks`. */
export interface TaskDump {
  readonly admin: readonly string[];
  readonly workload: readonly string[];
}

/** Answer of `/memory`. */
export interface MemoryDump {
  readonly captured_at_unix_ms: number;
  /** `runtime`: figures of the JavaScript runtime, read when asked. */
  readonly capture_mode: string;
  /** What a garbage-collected runtime cannot tell is null. */
  readonly allocation_stats: null;
  readonly pprof: null;
  readonly allocator: {
    readonly name: string;
    readonly process: Readonly<Record<string, number>>;
    readonly threads: readonly {
      readonly thread: string;
      readonly used: number;
      readonly total: number;
      readonly limit: number;
      readonly external: number;
      readonly array_buffers: number;
    }[];
  };
  readonly cgroup: Readonly<Record<string, number>> | null;
  readonly smaps: Readonly<Record<string, number>> | null;
}
