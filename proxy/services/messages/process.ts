import type { JsonObject } from '../../exchange/attributes.ts';
import { type Definitions, field, mapOf, repeated, rpcMethod, type WireMessage } from './codec.ts';
import { headerDefinitions, type HeaderValue, type HeaderValueOption } from './headers.ts';
import { fromStruct, structDefinitions, toStructs } from './struct.ts';

export interface HeaderList {
  readonly headers: readonly HeaderValue[];
}

/** `envoy.service.ext_proc.v3.HttpHeaders` */
export interface HttpHeaders {
  readonly headers: HeaderList;
  /** There is no body. */
  readonly endOfStream: boolean;
}

/** `envoy.service.ext_proc.v3.HttpBody` */
export interface HttpBody {
  readonly body: Uint8Array;
  /** The last one, and no trailers follow. */
  readonly endOfStream: boolean;
}

export interface HttpTrailers {
  readonly trailers: HeaderList;
}

/** `envoy.service.ext_proc.v3.ProcessingRequest`; one part of the message is there. */
export interface ProcessingRequest {
  readonly requestHeaders?: HttpHeaders;
  readonly responseHeaders?: HttpHeaders;
  readonly requestBody?: HttpBody;
  readonly responseBody?: HttpBody;
  readonly requestTrailers?: HttpTrailers;
  readonly responseTrailers?: HttpTrailers;
  /** `metadata_context.filter_metadata` */
  readonly metadataContext?: Readonly<Record<string, JsonObject>> | undefined;
  readonly attributes?: Readonly<Record<string, JsonObject>> | undefined;
  /** On the first message alone. */
  readonly protocolConfig?:
    | { readonly requestBodyMode: BodySendMode; readonly responseBodyMode: BodySendMode }
    | undefined;
}

export type BodySendMode = 'NONE' | 'STREAMED' | 'BUFFERED' | 'BUFFERED_PARTIAL' | 'FULL_DUPLEX_STREAMED';
export type HeaderSendMode = 'DEFAULT' | 'SEND' | 'SKIP';

/** `envoy.extensions.filters.http.ext_proc.v3.ProcessingMode`; numbers are unknown modes. */
export interface ProcessingMode {
  readonly requestHeaderMode?: HeaderSendMode | number;
  readonly responseHeaderMode?: HeaderSendMode | number;
  readonly requestBodyMode?: BodySendMode | number;
  readonly responseBodyMode?: BodySendMode | number;
  readonly requestTrailerMode?: HeaderSendMode | number;
  readonly responseTrailerMode?: HeaderSendMode | number;
}

export interface HeaderMutation {
  readonly setHeaders?: readonly HeaderValueOption[];
  readonly removeHeaders?: readonly string[];
}

/** At most one of the keys is there. */
export interface BodyMutation {
  readonly body?: Uint8Array;
  readonly clearBody?: boolean;
  readonly streamedResponse?: { readonly body?: Uint8Array; readonly endOfStream?: boolean };
}

export interface CommonResponse {
  readonly headerMutation?: HeaderMutation | null;
  readonly bodyMutation?: BodyMutation | null;
}

export interface ImmediateResponse {
  readonly status?: { readonly code?: number } | null;
  readonly headers?: HeaderMutation | null;
  readonly body?: Uint8Array;
  readonly grpcStatus?: { readonly status?: number } | null;
  readonly details?: string;
}

/** `envoy.service.ext_proc.v3.ProcessingResponse`; at most one part of the message is there. */
export interface ProcessingResponse {
  readonly requestHeaders?: { readonly response?: CommonResponse | null };
  readonly responseHeaders?: { readonly response?: CommonResponse | null };
  readonly requestBody?: { readonly response?: CommonResponse | null };
  readonly responseBody?: { readonly response?: CommonResponse | null };
  readonly requestTrailers?: { readonly headerMutation?: HeaderMutation | null };
  readonly responseTrailers?: { readonly headerMutation?: HeaderMutation | null };
  readonly immediateResponse?: ImmediateResponse;
  readonly dynamicMetadata?: JsonObject | null;
  readonly modeOverride?: ProcessingMode | null;
}

const parts = {
  request: ['requestHeaders', 'responseHeaders', 'requestBody', 'responseBody', 'requestTrailers', 'responseTrailers'],
  mutation: ['body', 'clearBody', 'streamedResponse'],
};

const definitions: Definitions = {
  ...structDefinitions,
  ...headerDefinitions,
  HttpHeaders: { fields: { headers: field(1, 'HeaderMap'), endOfStream: field(3, 'bool') } },
  HttpBody: { fields: { body: field(1, 'bytes'), endOfStream: field(2, 'bool') } },
  HttpTrailers: { fields: { trailers: field(1, 'HeaderMap') } },
  Metadata: { fields: { filterMetadata: mapOf(1, 'Struct') } },
  BodySendMode: {
    values: { NONE: 0, STREAMED: 1, BUFFERED: 2, BUFFERED_PARTIAL: 3, FULL_DUPLEX_STREAMED: 4 },
  },
  HeaderSendMode: { values: { DEFAULT: 0, SEND: 1, SKIP: 2 } },
  ProtocolConfiguration: {
    fields: { requestBodyMode: field(1, 'BodySendMode'), responseBodyMode: field(2, 'BodySendMode') },
  },
  ProcessingRequest: {
    fields: {
      requestHeaders: field(2, 'HttpHeaders'),
      responseHeaders: field(3, 'HttpHeaders'),
      requestBody: field(4, 'HttpBody'),
      responseBody: field(5, 'HttpBody'),
      requestTrailers: field(6, 'HttpTrailers'),
      responseTrailers: field(7, 'HttpTrailers'),
      metadataContext: field(8, 'Metadata'),
      attributes: mapOf(9, 'Struct'),
      protocolConfig: field(11, 'ProtocolConfiguration'),
    },
    oneofs: { request: { oneof: parts.request } },
  },
  HeaderMutation: {
    fields: { setHeaders: repeated(1, 'HeaderValueOption'), removeHeaders: repeated(2, 'string') },
  },
  StreamedBodyResponse: { fields: { body: field(1, 'bytes'), endOfStream: field(2, 'bool') } },
  BodyMutation: {
    fields: {
      body: field(1, 'bytes'),
      clearBody: field(2, 'bool'),
      streamedResponse: field(3, 'StreamedBodyResponse'),
    },
    oneofs: { mutation: { oneof: parts.mutation } },
  },
  CommonResponse: { fields: { headerMutation: field(2, 'HeaderMutation'), bodyMutation: field(3, 'BodyMutation') } },
  HeadersResponse: { fields: { response: field(1, 'CommonResponse') } },
  BodyResponse: { fields: { response: field(1, 'CommonResponse') } },
  TrailersResponse: { fields: { headerMutation: field(1, 'HeaderMutation') } },
  GrpcStatus: { fields: { status: field(1, 'uint32') } },
  ImmediateResponse: {
    fields: {
      status: field(1, 'HttpStatus'),
      headers: field(2, 'HeaderMutation'),
      body: field(3, 'bytes'),
      grpcStatus: field(4, 'GrpcStatus'),
      details: field(5, 'string'),
    },
  },
  ProcessingMode: {
    fields: {
      requestHeaderMode: field(1, 'HeaderSendMode'),
      responseHeaderMode: field(2, 'HeaderSendMode'),
      requestBodyMode: field(3, 'BodySendMode'),
      responseBodyMode: field(4, 'BodySendMode'),
      requestTrailerMode: field(5, 'HeaderSendMode'),
      responseTrailerMode: field(6, 'HeaderSendMode'),
    },
  },
  ProcessingResponse: {
    fields: {
      requestHeaders: field(1, 'HeadersResponse'),
      responseHeaders: field(2, 'HeadersResponse'),
      requestBody: field(3, 'BodyResponse'),
      responseBody: field(4, 'BodyResponse'),
      requestTrailers: field(5, 'TrailersResponse'),
      responseTrailers: field(6, 'TrailersResponse'),
      immediateResponse: field(7, 'ImmediateResponse'),
      dynamicMetadata: field(8, 'Struct'),
      modeOverride: field(9, 'ProcessingMode'),
    },
    oneofs: { response: { oneof: [...parts.request, 'immediateResponse'] } },
  },
};

/** External processing: one stream for a request and its response. */
export const processMethod = rpcMethod<ProcessingRequest, ProcessingResponse>({
  path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
  request: 'ProcessingRequest',
  response: 'ProcessingResponse',
  definitions,
  toWire: ({ metadataContext, attributes, ...message }) => ({
    ...message,
    ...(metadataContext === undefined ? {} : { metadataContext: { filterMetadata: toStructs(metadataContext) } }),
    ...(attributes === undefined ? {} : { attributes: toStructs(attributes) }),
  }),
  fromWire: processingResponse,
});

/** `as`: the definitions above say what the decoder makes; only Structs have another form. */
function processingResponse(wire: WireMessage): ProcessingResponse {
  return { ...(wire as ProcessingResponse), dynamicMetadata: fromStruct(wire['dynamicMetadata']) };
}
