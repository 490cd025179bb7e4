import type { JsonObject } from '../../exchange/attributes.ts';
import { type Definitions, field, repeated, rpcMethod, type WireMessage } from './codec.ts';
import { headerDefinitions, type HeaderValue } from './headers.ts';
import { fromStruct, structDefinitions } from './struct.ts';

/** `envoy.service.ratelimit.v3.RateLimitRequest` */
export interface RateLimitRequest {
  readonly domain: string;
  readonly descriptors: readonly RateLimitDescriptor[];
  /** Zero counts as one. */
  readonly hitsAddend?: number | undefined;
}

export interface RateLimitDescriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
  readonly limit?: { readonly requestsPerUnit: number; readonly unit: RateLimitOverrideUnit } | undefined;
  readonly hitsAddend?: { readonly value: number } | undefined;
}

export type RateLimitOverrideUnit = 'UNKNOWN' | 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'MONTH' | 'YEAR';

export type RateLimitCode = 'UNKNOWN' | 'OK' | 'OVER_LIMIT';

/** `envoy.service.ratelimit.v3.RateLimitResponse` */
export interface RateLimitResponse {
  /** A number when it is unknown. */
  readonly overallCode?: RateLimitCode | number;
  readonly statuses?: readonly RateLimitStatus[];
  readonly responseHeadersToAdd?: readonly HeaderValue[];
  readonly requestHeadersToAdd?: readonly HeaderValue[];
  readonly rawBody?: Uint8Array;
  readonly dynamicMetadata?: JsonObject | null;
}

export interface RateLimitStatus {
  readonly code?: RateLimitCode | number;
  readonly currentLimit?: {
    readonly name?: string;
    readonly requestsPerUnit?: number;
    readonly unit?: RateLimitOverrideUnit | 'WEEK' | number;
  } | null;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: { readonly seconds?: number; readonly nanos?: number } | null;
}

const definitions: Definitions = {
  ...structDefinitions,
  ...headerDefinitions,
  Duration: { fields: { seconds: field(1, 'int64'), nanos: field(2, 'int32') } },
  UInt64Value: { fields: { value: field(1, 'uint64') } },
  Entry: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  OverrideUnit: { values: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6 } },
  RateLimitOverride: { fields: { requestsPerUnit: field(1, 'uint32'), unit: field(2, 'OverrideUnit') } },
  RateLimitDescriptor: {
    fields: {
      entries: repeated(1, 'Entry'),
      limit: field(2, 'RateLimitOverride'),
      hitsAddend: field(3, 'UInt64Value'),
    },
  },
  RateLimitRequest: {
    fields: {
      domain: field(1, 'string'),
      descriptors: repeated(2, 'RateLimitDescriptor'),
      hitsAddend: field(3, 'uint32'),
    },
  },
  Code: { values: { UNKNOWN: 0, OK: 1, OVER_LIMIT: 2 } },
  Unit: { values: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6, WEEK: 7 } },
  RateLimit: {
    fields: { requestsPerUnit: field(1, 'uint32'), unit: field(2, 'Unit'), name: field(3, 'string') },
  },
  DescriptorStatus: {
    fields: {
      code: field(1, 'Code'),
      currentLimit: field(2, 'RateLimit'),
      limitRemaining: field(3, 'uint32'),
      durationUntilReset: field(4, 'Duration'),
    },
  },
  RateLimitResponse: {
    fields: {
      overallCode: field(1, 'Code'),
      statuses: repeated(2, 'DescriptorStatus'),
      responseHeadersToAdd: repeated(3, 'HeaderValue'),
      requestHeadersToAdd: repeated(4, 'HeaderValue'),
      rawBody: field(5, 'bytes'),
      dynamicMetadata: field(6, 'Struct'),
    },
  },
};

/** Rate limits of a service for many replicas. */
export const shouldRateLimitMethod = rpcMethod<RateLimitRequest, RateLimitResponse>({
  path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
  request: 'RateLimitRequest',
  response: 'RateLimitResponse',
  definitions,
  toWire: (message) => message,
  fromWire: rateLimitResponse,
});

/** `as`: the definitions above say what the decoder makes; only Structs have another form. */
function rateLimitResponse(wire: WireMessage): RateLimitResponse {
  return { ...(wire as RateLimitResponse), dynamicMetadata: fromStruct(wire['dynamicMetadata']) };
}
