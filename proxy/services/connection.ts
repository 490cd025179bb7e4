import type { ResolvedBackend } from '../backends/resolved.ts';
import type { BackendAuth } from '../../src/config/ir/policy/backend-auth.ts';
import type { Headers } from '../exchange/headers.ts';
import type { ServiceUse } from './contract.ts';
import type { Histogram } from '../telemetry/thread-metrics.ts';

/** How one service is reached: its backend under the policies of the connection. */
export interface Connection {
  /** As logs and traces name it. */
  readonly name: string;
  /** What its calls are for. */
  readonly use: ServiceUse;
  readonly resolved: ResolvedBackend;
  /** The same backend when it has to speak HTTP/2. */
  readonly resolvedHttp2: ResolvedBackend;
  /** `http.requestTimeout` of the connection; null is no limit. */
  readonly timeoutMs: number | null;
  /** `requestHeaderModifier` of the connection; null changes nothing. */
  readonly changeHeaders: ((headers: Headers) => void) | null;
  /** The authority that the connection's policies decide on; null leaves it to the call. */
  readonly authority: string | null;
  /** `backendAuth` of the connection. */
  readonly credentials: BackendAuth | undefined;
  readonly duration: Histogram | null;
}
