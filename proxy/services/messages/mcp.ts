import type { JsonObject } from '../../exchange/attributes.ts';
import { type Definitions, field, repeated, rpcMethod, type WireMessage } from './codec.ts';
import { fromStruct, structDefinitions, toStruct } from './struct.ts';

/** What a processor of MCP calls is asked about a request. */
export interface McpRequest {
  /** Names of the targets. */
  readonly serviceNames: readonly string[];
  readonly method: string;
  readonly metadataContext?: JsonObject | undefined;
  /** JSON of `params`; undefined for methods that go to several targets. */
  readonly mcpRequest?: Uint8Array | undefined;
  /** One for each value. */
  readonly headers: readonly McpHeader[];
}

export interface McpHeader {
  readonly key: string;
  readonly value: Uint8Array;
}

/** What a processor is asked about an answer. */
export interface McpResponse {
  readonly serviceNames: readonly string[];
  readonly method: string;
  readonly metadataContext?: JsonObject | undefined;
  /** JSON of `result`. */
  readonly mcpResponse: Uint8Array;
}

/** `result` names the field that is set; absent where the processor has set none. */
export interface McpResponseResult {
  readonly result?: 'pass' | 'mutated' | 'error';
  /** JSON in the place of what was asked about. */
  readonly mutated?: Uint8Array;
  readonly error?: McpDenial | null;
}

export interface McpRequestResult extends McpResponseResult {
  readonly headerMutation?: { readonly set?: readonly McpHeader[]; readonly remove?: readonly string[] } | null;
  readonly metadata: JsonObject | null;
}

export interface McpDenial {
  /** A number when it is unknown. */
  readonly code?: McpDenialCode | number;
  readonly reason?: string;
  /** JSON; empty where there is none. */
  readonly mcpError?: Uint8Array;
}

export type McpDenialCode = 'UNKNOWN' | 'PERMISSION_DENIED' | 'RESOURCE_EXHAUSTED' | 'INVALID';

const RESULT = { result: { oneof: ['pass', 'mutated', 'error'] } };

const definitions: Definitions = {
  ...structDefinitions,
  Header: { fields: { key: field(1, 'string'), value: field(2, 'bytes') } },
  McpRequest: {
    fields: {
      serviceNames: repeated(1, 'string'),
      method: field(2, 'string'),
      metadataContext: field(3, 'Struct'),
      mcpRequest: field(4, 'bytes'),
      headers: repeated(5, 'Header'),
    },
  },
  McpResponse: {
    fields: {
      serviceNames: repeated(1, 'string'),
      method: field(2, 'string'),
      metadataContext: field(3, 'Struct'),
      mcpResponse: field(4, 'bytes'),
    },
  },
  Empty: { fields: {} },
  AuthorizationErrorCode: {
    values: { UNKNOWN: 0, PERMISSION_DENIED: 1, RESOURCE_EXHAUSTED: 2, INVALID: 3 },
  },
  AuthorizationError: {
    fields: { code: field(1, 'AuthorizationErrorCode'), reason: field(2, 'string'), mcpError: field(3, 'bytes') },
  },
  HeaderMutation: { fields: { set: repeated(1, 'Header'), remove: repeated(2, 'string') } },
  McpRequestResult: {
    fields: {
      pass: field(1, 'Empty'),
      mutated: field(2, 'bytes'),
      error: field(3, 'AuthorizationError'),
      headerMutation: field(4, 'HeaderMutation'),
      metadata: field(5, 'Struct'),
    },
    oneofs: RESULT,
  },
  McpResponseResult: {
    fields: { pass: field(1, 'Empty'), mutated: field(2, 'bytes'), error: field(3, 'AuthorizationError') },
    oneofs: RESULT,
  },
};

const SERVICE = '/gw.dev.ext_mcp.ExtMcp';

/** Asks a processor about the request of a call. */
export const checkMcpRequest = rpcMethod<McpRequest, McpRequestResult>({
  path: `${SERVICE}/CheckRequest`,
  request: 'McpRequest',
  response: 'McpRequestResult',
  definitions,
  toWire: withStruct,
  fromWire: requestResult,
});

/** Asks a processor about the answer. */
export const checkMcpResponse = rpcMethod<McpResponse, McpResponseResult>({
  path: `${SERVICE}/CheckResponse`,
  request: 'McpResponse',
  response: 'McpResponseResult',
  definitions,
  toWire: withStruct,
  // `as`: the definitions above say what the decoder makes.
  fromWire: (wire) => wire as McpResponseResult,
});

function withStruct<M extends McpRequest | McpResponse>({ metadataContext, ...message }: M): object {
  return metadataContext === undefined ? message : { ...message, metadataContext: toStruct(metadataContext) };
}

/** `as`: the definitions above say what the decoder makes; only Structs have another form. */
function requestResult(wire: WireMessage): McpRequestResult {
  return { ...(wire as unknown as McpRequestResult), metadata: fromStruct(wire['metadata']) };
}
