import type { Secret } from '../../../shared/secret.ts';
import type { ServiceRef } from './policy-service.ts';

/** Expressions by name, in the order of the file. */
export type NamedExpressions = readonly (readonly [name: string, expression: string])[];

/** How the fields of a log, or the attributes of spans, differ from the default ones. */
export interface FieldChanges {
  readonly add: NamedExpressions;
  readonly remove: readonly string[];
}

/** A receiver of OTLP. */
export interface OtlpReceiver {
  readonly service: ServiceRef;
  readonly protocol: 'grpc' | 'http';
  /** For HTTP. */
  readonly path: string;
  /** Sent along with every batch; they may hold credentials. */
  readonly headers: readonly (readonly [name: string, value: Secret])[];
}

export interface AccessLog extends FieldChanges {
  /** Only requests for which it holds are logged. */
  readonly filter?: string | undefined;
  readonly otlp?: OtlpLog | undefined;
}

/** The access log once more, by OTLP; what it does not say for itself is taken from the log. */
export interface OtlpLog extends FieldChanges {
  readonly receiver: OtlpReceiver;
  readonly filter?: string | undefined;
}

export interface Tracing {
  /** Undefined: traces go on through the gateway, and nothing is exported. */
  readonly receiver?: OtlpReceiver | undefined;
  readonly attributes: FieldChanges;
  /** Evaluated once. */
  readonly resources: NamedExpressions;
  /** Expressions; literals are texts such as `true` and `0.5`. */
  readonly randomSampling: string;
  readonly clientSampling: string;
  /** Only spans of requests for which it holds are exported. */
  readonly filter?: string | undefined;
}

/** Who the gateway says it is towards receivers of telemetry. */
export interface TelemetryResource {
  readonly serviceName: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}
