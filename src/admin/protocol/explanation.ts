import type { RejectedRoute, Severity, TraceEvent } from './trace-event.ts';

/** A request that is only thought of. */
export interface ExplainQuestion {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** `host[:port]` of the URL: what `Host` says. */
  readonly authority: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** base64 */
  readonly body?: string | undefined;
  readonly version?: 'HTTP/1.1' | 'HTTP/2.0' | undefined;
  /** Port of the listener; without it that of the URL, or the only one there is. */
  readonly port?: number | undefined;
  /** Where the client would be: `ip` or `ip:port`. */
  readonly source?: string | undefined;
}

/** What the gateway would do with it. */
export interface Explanation {
  readonly bind: string | null;
  /** `namespace/gateway` and the listener's name. */
  readonly gateway: string | null;
  readonly listener: string | null;
  /** Key of the route. */
  readonly route: string | null;
  /** For the routes that lost, the first thing that did not match. */
  readonly rejectedRoutes: readonly RejectedRoute[];
  /** What each policy said, in order. */
  readonly policies: readonly ExplainedPolicy[];
  readonly backend: ExplainedBackend | null;
  readonly answer: ExplainedAnswer;
  /** Everything that a trace of the request would hold. */
  readonly events: readonly TraceEvent[];
}

export interface ExplainedPolicy {
  readonly kind: string;
  /** `applied`, `skipped`, `denied`; `notAsked`: it depends on a service, which is not called. */
  readonly outcome: 'applied' | 'skipped' | 'denied' | 'notAsked';
  readonly details: string;
  readonly severity: Severity;
  /** Before a request is read, on the request, or on the answer; that of a backend is taken to be an empty 200. */
  readonly on: 'connection' | 'request' | 'response';
  /** The conditions and rules that it looked at. */
  readonly rules: readonly ExplainedRule[];
}

export interface ExplainedRule {
  /** `allow`, `deny`, `require`, or `condition`. */
  readonly mode: string;
  readonly expression: string;
  /** The resource that says so, where the policy does not name it. */
  readonly source: string | null;
  readonly holds: boolean;
  /** Whether it refused the request. */
  readonly decisive: boolean;
  /** The values of its parts, in the order of the source, outer ones first; credentials are hidden. */
  readonly parts: readonly { readonly expression: string; readonly value: string }[];
}

export interface ExplainedBackend {
  readonly name: string;
  /** `host:port` or socket path that would be called; null when the request does not come that far. */
  readonly endpoint: string | null;
  /** Every backend of the route that may be drawn, with its share. */
  readonly candidates: readonly { readonly name: string; readonly share: number }[];
}

export interface ExplainedAnswer {
  /** `backend`: the status is the backend's own, which is not known. */
  readonly by: 'gateway' | 'policy' | 'backend';
  readonly status: number | null;
  /** The word in `x-gw-reason` and the access log; null for a backend's answer. */
  readonly reason: string | null;
  readonly message: string | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
}
