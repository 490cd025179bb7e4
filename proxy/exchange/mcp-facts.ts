import type { JsonObject } from '../../src/shared/json.ts';
import type { Reason } from './refusal.ts';

/** What a call of an MCP server is about. */
export interface McpItemFacts {
  readonly kind: 'tool' | 'prompt' | 'resource' | 'task';
  /** As the target names it. */
  readonly name: string;
  readonly target: string;
}

/** What is known of one message to MCP servers: for expressions and logs. Filled as it goes on. */
export class McpFacts {
  /** Null for streams and for the end of a session. */
  methodName: string | null = null;
  /** Null for requests that stand alone. */
  sessionId: string | null = null;
  /** Null for methods that are about no item. */
  item: McpItemFacts | null = null;
  /** Its target is known to have it. */
  itemKnown = false;
  /** Of a call of a tool, as the client wrote them. */
  arguments: JsonObject | null = null;
  /** What the tool gave, as the target wrote it. */
  result: JsonObject | null = null;
  /** The JSON-RPC error instead. */
  error: JsonObject | null = null;
  /** Why the gateway itself made an error of what a target has answered. */
  refusedBy: Reason | null = null;
}
