import type { JsonObject } from '../../exchange/attributes.ts';
import { type Definitions, field, mapOf, repeated, rpcMethod, type WireMessage } from './codec.ts';
import { headerDefinitions, type HeaderValueOption } from './headers.ts';
import { fromStruct, structDefinitions, toStructs } from './struct.ts';

/** `envoy.service.auth.v3.AttributeContext.Peer` */
export interface CheckPeer {
  readonly address?: { readonly socketAddress: { readonly address: string; readonly portValue: number } } | undefined;
  readonly principal?: string | undefined;
}

/** `envoy.service.auth.v3.CheckRequest`, its `attributes`. */
export interface CheckRequest {
  readonly source?: CheckPeer | undefined;
  readonly destination?: CheckPeer | undefined;
  readonly request: {
    readonly time?: { readonly seconds: number; readonly nanos: number } | undefined;
    readonly http: CheckHttpRequest;
  };
  readonly contextExtensions?: Readonly<Record<string, string>> | undefined;
  /** `metadata_context.filter_metadata` */
  readonly metadataContext?: Readonly<Record<string, JsonObject>> | undefined;
  readonly tlsSession?: { readonly sni: string } | undefined;
}

export interface CheckHttpRequest {
  readonly id?: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly host: string;
  readonly scheme: string;
  readonly query?: string;
  readonly fragment?: string;
  /** Bytes of the body; -1 when it was cut. */
  readonly size: number;
  readonly protocol: string;
  readonly body?: string | undefined;
  readonly rawBody?: Uint8Array | undefined;
}

/** `envoy.service.auth.v3.CheckResponse` */
export interface CheckResponse {
  /** `google.rpc.Status`; null counts as OK. */
  readonly status?: { readonly code?: number; readonly message?: string } | null;
  readonly deniedResponse?: DeniedResponse | null;
  readonly okResponse?: OkResponse | null;
  readonly dynamicMetadata?: JsonObject | null;
}

export interface DeniedResponse {
  readonly status?: { readonly code?: number } | null;
  readonly headers?: readonly HeaderValueOption[];
  readonly body?: string;
}

export interface OkResponse {
  readonly headers?: readonly HeaderValueOption[];
  readonly headersToRemove?: readonly string[];
  /** Deprecated form of the one beside. */
  readonly dynamicMetadata?: JsonObject | null;
  readonly responseHeadersToAdd?: readonly HeaderValueOption[];
  readonly queryParametersToSet?: readonly { readonly key: string; readonly value?: string }[];
  readonly queryParametersToRemove?: readonly string[];
}

const definitions: Definitions = {
  ...structDefinitions,
  ...headerDefinitions,
  Timestamp: { fields: { seconds: field(1, 'int64'), nanos: field(2, 'int32') } },
  SocketAddress: { fields: { address: field(2, 'string'), portValue: field(3, 'uint32') } },
  Address: { fields: { socketAddress: field(1, 'SocketAddress') } },
  Peer: { fields: { address: field(1, 'Address'), principal: field(4, 'string') } },
  Metadata: { fields: { filterMetadata: mapOf(1, 'Struct') } },
  HttpRequest: {
    fields: {
      id: field(1, 'string'),
      method: field(2, 'string'),
      headers: mapOf(3, 'string'),
      path: field(4, 'string'),
      host: field(5, 'string'),
      scheme: field(6, 'string'),
      query: field(7, 'string'),
      fragment: field(8, 'string'),
      size: field(9, 'int64'),
      protocol: field(10, 'string'),
      body: field(11, 'string'),
      rawBody: field(12, 'bytes'),
    },
  },
  Request: { fields: { time: field(1, 'Timestamp'), http: field(2, 'HttpRequest') } },
  TlsSession: { fields: { sni: field(1, 'string') } },
  AttributeContext: {
    fields: {
      source: field(1, 'Peer'),
      destination: field(2, 'Peer'),
      request: field(4, 'Request'),
      contextExtensions: mapOf(10, 'string'),
      metadataContext: field(11, 'Metadata'),
      tlsSession: field(12, 'TlsSession'),
    },
  },
  CheckRequest: { fields: { attributes: field(1, 'AttributeContext') } },
  Status: { fields: { code: field(1, 'int32'), message: field(2, 'string') } },
  DeniedHttpResponse: {
    fields: { status: field(1, 'HttpStatus'), headers: repeated(2, 'HeaderValueOption'), body: field(3, 'string') },
  },
  QueryParameter: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  OkHttpResponse: {
    fields: {
      headers: repeated(2, 'HeaderValueOption'),
      dynamicMetadata: field(3, 'Struct'),
      headersToRemove: repeated(5, 'string'),
      responseHeadersToAdd: repeated(6, 'HeaderValueOption'),
      queryParametersToSet: repeated(7, 'QueryParameter'),
      queryParametersToRemove: repeated(8, 'string'),
    },
  },
  CheckResponse: {
    fields: {
      status: field(1, 'Status'),
      deniedResponse: field(2, 'DeniedHttpResponse'),
      okResponse: field(3, 'OkHttpResponse'),
      dynamicMetadata: field(4, 'Struct'),
    },
    oneofs: { httpResponse: { oneof: ['deniedResponse', 'okResponse'] } },
  },
};

/** External authorization over gRPC. */
export const checkMethod = rpcMethod<CheckRequest, CheckResponse>({
  path: '/envoy.service.auth.v3.Authorization/Check',
  request: 'CheckRequest',
  response: 'CheckResponse',
  definitions,
  toWire: ({ metadataContext, ...attributes }) => ({
    attributes: {
      ...attributes,
      ...(metadataContext === undefined ? {} : { metadataContext: { filterMetadata: toStructs(metadataContext) } }),
    },
  }),
  fromWire: checkResponse,
});

/** `as`: the definitions above say what the decoder makes; only Structs have another form. */
function checkResponse(wire: WireMessage): CheckResponse {
  const response = wire as CheckResponse & { okResponse?: OkResponse | null };
  const { okResponse } = response;
  return {
    ...response,
    dynamicMetadata: fromStruct(wire['dynamicMetadata']),
    ...(okResponse === undefined || okResponse === null
      ? {}
      : { okResponse: { ...okResponse, dynamicMetadata: fromStruct(okResponse.dynamicMetadata) } }),
  };
}
