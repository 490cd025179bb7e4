import type { ServiceRef } from './policy-service.ts';

/** An external service decides. */
export interface ExtAuthz {
  readonly service: ServiceRef;
  readonly protocol: ExtAuthzGrpc | ExtAuthzHttp;
  /** What happens to requests that could not be asked about: `allow`, or the status of the refusal. */
  readonly failure: 'allow' | { readonly denyWithStatus: number };
  /** Lower-case names and pseudo-headers; empty takes what the protocol sends by itself. */
  readonly includeRequestHeaders: readonly string[];
  readonly includeRequestBody?: ExtAuthzBody | undefined;
  readonly cache?: ExtAuthzCache | undefined;
}

export interface ExtAuthzGrpc {
  readonly kind: 'grpc';
  readonly context: Readonly<Record<string, string>>;
  /** Expressions by namespace; without it the claims of a verified token are sent. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

export interface ExtAuthzHttp {
  readonly kind: 'http';
  readonly path?: string | undefined;
  readonly redirect?: string | undefined;
  readonly body?: string | undefined;
  /** Lower-case names. */
  readonly includeResponseHeaders: readonly string[];
  readonly addRequestHeaders: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ExtAuthzBody {
  readonly maxBytes: number;
  /** Sends the beginning of a larger body instead of refusing the request. */
  readonly allowPartial: boolean;
  readonly packAsBytes: boolean;
}

export interface ExtAuthzCache {
  readonly key: readonly string[];
  /** Milliseconds, or an expression. */
  readonly ttl: number | string;
  readonly maxEntries: number;
}
