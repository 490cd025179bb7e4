import type { ServiceRef } from './policy-service.ts';

export type ExtProcBodyMode = 'none' | 'buffered' | 'bufferedPartial' | 'fullDuplexStreamed';
export type ExtProcSendMode = 'send' | 'skip';

/** Expressions by name. */
type ExpressionMap = Readonly<Record<string, string>>;

/** An external service reads and changes requests and responses. */
export interface ExtProc {
  readonly service: ServiceRef;
  readonly failureMode: 'failClosed' | 'failOpen';
  /** Initial metadata of the gRPC call. */
  readonly initialMetadata: ExpressionMap;
  /** By namespace. */
  readonly metadataContext: Readonly<Record<string, ExpressionMap>>;
  readonly requestAttributes: ExpressionMap;
  readonly responseAttributes: ExpressionMap;
  readonly modes: ExtProcModes;
  readonly allowModeOverride: boolean;
}

/** Which parts are sent. A streamed body of either direction sends the trailers of both. */
export interface ExtProcModes {
  readonly requestHeaders: ExtProcSendMode;
  readonly responseHeaders: ExtProcSendMode;
  readonly requestBody: ExtProcBodyMode;
  readonly responseBody: ExtProcBodyMode;
  readonly requestTrailers: ExtProcSendMode;
  readonly responseTrailers: ExtProcSendMode;
}
