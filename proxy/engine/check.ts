import { randomBytes } from 'node:crypto';

import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { endpointIdentities } from '../backends/endpoint-identity.ts';
import { EndpointStore } from '../backends/endpoint-store.ts';
import { EndpointView } from '../backends/endpoint-view.ts';
import { policyWarnings } from '../policy/warnings.ts';
import { systemClock } from '../exchange/wait.ts';
import { compileBind } from '../listener/compiled.ts';
import { ownBuckets } from '../policy/local-rate-limit/own-buckets.ts';
import { NamedStores } from '../policy/stores.ts';
import { ThreadResources } from '../resources/thread-resources.ts';
import { ThreadMetrics } from '../telemetry/thread-metrics.ts';
import { loadEngine } from './load.ts';
import { expressionsOf, silentLog, uncalledServices } from './policy-deps.ts';

/**
 * Compiles a configuration as a start would, and opens nothing. Throws the `GwError` that the start would throw; returns
 * what is legal but has no effect.
 */
export async function checkCompiles(config: GatewayConfig): Promise<readonly string[]> {
  const identities = endpointIdentities(config);
  const store = new EndpointStore(identities.size + 1);
  const engine = await loadEngine(config, {
    revision: 'check',
    rows: store.acquireAll(identities),
    deps: {
      backends: { view: new EndpointView(store.buffer) },
      metrics: new ThreadMetrics(() => {}),
      policies: {
        clock: systemClock,
        stores: new NamedStores(),
        buckets: ownBuckets,
        resources: new ThreadResources(),
        log: silentLog(),
        snapshot() {},
        responseSnapshot() {},
      },
      expressions: expressionsOf,
      services: uncalledServices,
    },
  });
  for (const bind of engine.config.binds) compileBind(bind, config.frontend, randomBytes(48));
  return policyWarnings(config);
}
