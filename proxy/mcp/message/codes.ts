/** Codes of JSON-RPC errors: the ones of JSON-RPC 2.0, and those that MCP has set apart. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** A processor of guardrails denies it. */
  permissionDenied: -32001,
  /** A processor of guardrails has had enough of it. */
  resourceExhausted: -32003,
  /** A header says something else than the message, or is missing. */
  headerMismatch: -32020,
  /** The server needs something that the client does not offer. */
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;
