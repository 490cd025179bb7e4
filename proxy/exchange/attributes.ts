import type { JsonObject } from '../../src/shared/json.ts';
import type { A2aFacts } from './a2a-facts.ts';
import type { LlmFacts } from './llm-facts.ts';
import type { McpFacts } from './mcp-facts.ts';
import type { Secret } from '../../src/shared/secret.ts';

export { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts';

/** A token whose signature and claims were verified. */
export interface VerifiedJwt {
  readonly claims: JsonObject;
  readonly rawToken: Secret;
}

export interface VerifiedApiKey {
  readonly key: Secret;
  /** Name of the header, query parameter or cookie that had it; null for another place. */
  readonly place: string | null;
  readonly metadata: JsonObject;
  /** Models that it may ask for, as names or patterns; undefined: all. */
  readonly allowedModels?: readonly string[] | undefined;
}

/** What policies find out about a request, for later policies, expressions and the log. Null until one does. */
export class Attributes {
  jwt: VerifiedJwt | null = null;
  apiKey: VerifiedApiKey | null = null;
  basicAuth: { readonly username: string } | null = null;
  /** Dynamic metadata of external authorization. */
  extauthz: JsonObject | null = null;
  /** Dynamic metadata of external processing. */
  extproc: JsonObject | null = null;
  /** `metadata` entries of transformations: values of expressions, opaque to everybody else. */
  metadata: Record<string, unknown> | null = null;
  /** The body of a request to a language model, while policies look at it. */
  llmRequest: JsonObject | null = null;
  /** What is known of a call of a language model. */
  llm: LlmFacts | null = null;
  /** What is known of a call of an agent. */
  a2a: A2aFacts | null = null;
  /** What is known of a message to MCP servers. */
  mcp: McpFacts | null = null;
  /** Metadata of the processors of MCP calls. */
  mcpGuardrails: JsonObject | null = null;
}
