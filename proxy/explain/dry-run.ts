import { credentialPlaces } from '../../src/config/credential-places.ts';
import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { endpointIdentities } from '../backends/endpoint-identity.ts';
import { EndpointStore } from '../backends/endpoint-store.ts';
import { EndpointView } from '../backends/endpoint-view.ts';
import type { EngineDeps } from '../engine/engine.ts';
import { loadEngine } from '../engine/load.ts';
import { expressionOptions, silentLog, uncalledServices } from '../engine/policy-deps.ts';
import { observedExpressions } from '../expression/observed.ts';
import { type Buckets, BucketView } from '../policy/local-rate-limit/bucket-view.ts';
import { ownBuckets } from '../policy/local-rate-limit/own-buckets.ts';
import { NamedStores } from '../policy/stores.ts';
import { Runtime } from '../engine/runtime.ts';
import { policySnapshots } from '../engine/tracing.ts';
import type { ResourceContent } from '../resources/content.ts';
import type { Resources } from '../resources/contract.ts';
import { ThreadResources } from '../resources/thread-resources.ts';
import { AccessLog } from '../telemetry/access-log.ts';
import { Recorder } from '../telemetry/recorder.ts';
import { Redaction } from '../telemetry/redaction.ts';
import { ThreadMetrics } from '../telemetry/thread-metrics.ts';
import { DryPolicies, DryServices } from './dry-policies.ts';
import { DryPools } from './dry-pools.ts';
import { virtualClock } from './virtual-clock.ts';

/** What a running gateway shares, memory as copies; left out, everything is as after a start without a network. */
export interface DryState {
  /** Documents that were fetched; the others are empty. */
  readonly contents?: readonly ResourceContent[] | undefined;
  readonly endpoints?: { readonly memory: SharedArrayBuffer; readonly rows: ReadonlyMap<string, number> } | undefined;
  readonly buckets?: { readonly memory: SharedArrayBuffer; readonly rows: ReadonlyMap<string, number> } | undefined;
}

/** A runtime for one request that is watched and goes nowhere. */
export async function dryRuntime(
  config: GatewayConfig,
  state: DryState,
  sink: (event: TraceEvent) => void,
): Promise<Runtime> {
  const redaction = new Redaction(config.process.sensitiveHeaders).hide(credentialPlaces(config));
  const metrics = new ThreadMetrics(() => {});
  const { memory, rows } = state.endpoints ?? freshEndpoints(config);
  const endpoints = new EndpointView(memory);
  const log = silentLog();
  const resources = new ThreadResources();
  resources.update(state.contents ?? []);
  const engine = await loadEngine(config, {
    revision: 'explain',
    rows,
    deps: {
      backends: { view: endpoints, random: () => 0 },
      metrics,
      ...dryDeps(redaction, resources, bucketsOf(state)),
    },
  });
  const recorder = (requestId: string): Recorder => new Recorder(requestId, sink);
  return new Runtime({
    init: {
      threadIndex: 0,
      threadCount: 1,
      reusePort: false,
      version: '',
      shared: { endpoints: memory, buckets: new SharedArrayBuffer(0), ticketSecret: new SharedArrayBuffer(0) },
      telemetry: {
        metrics,
        redaction,
        accessLog: new AccessLog({ format: 'text', write() {} }),
        traces: { watched: () => true, begin: recorder, beginFollowed: () => null },
      },
      log,
      peers: {
        meet: () => {
          throw new Error('nothing is called here');
        },
        onMet() {},
      },
      resources,
      admin: () => Promise.resolve({ status: 200, headers: {}, body: '' }),
    },
    pools: new DryPools(),
    endpoints,
    engine,
  });
}

function dryDeps(
  redaction: Redaction,
  resources: Resources,
  buckets: Buckets,
): Pick<EngineDeps, 'policies' | 'expressions' | 'services'> {
  const services = new DryServices();
  return {
    policies: {
      clock: virtualClock(),
      stores: new NamedStores(),
      buckets,
      resources,
      log: silentLog(),
      dryRun: new DryPolicies(services),
      ...policySnapshots(redaction),
    },
    expressions: (config) => observedExpressions(expressionOptions(config)),
    services: (backends) => services.over(uncalledServices(backends)),
  };
}

function bucketsOf({ buckets }: DryState): Buckets {
  return buckets === undefined ? ownBuckets : new BucketView(buckets.memory).among(buckets.rows);
}

function freshEndpoints(config: GatewayConfig) {
  const identities = endpointIdentities(config);
  const store = new EndpointStore(identities.size + 1);
  return { memory: store.buffer, rows: store.acquireAll(identities) };
}
