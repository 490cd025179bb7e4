import type { ServiceRef } from './policy-service.ts';

/** External processors look at MCP calls, one after the other; the first to reject ends the call. */
export interface McpGuardrails {
  readonly processors: readonly McpProcessor[];
}

/** Which side of a call a processor is asked about. */
export type McpGuardPhase = 'off' | 'request' | 'response' | 'full';

export interface McpProcessor {
  readonly service: ServiceRef;
  /**
   * Exact methods, `prefix*`, `*suffix` and `*` with what is looked at. The first that matches counts: exact ones, prefixes,
   * suffixes, `*`; among those the longer, then the earlier in the alphabet. What matches none is not looked at.
   */
  readonly methods: readonly (readonly [pattern: string, phase: McpGuardPhase])[];
  readonly failureMode: 'failClosed' | 'failOpen';
  /** Expressions by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Lower case. */
  readonly requestHeaders: {
    /** Empty: all headers, and the pseudo-headers. */
    readonly allowed: readonly string[];
    readonly disallowed: readonly string[];
  };
}
