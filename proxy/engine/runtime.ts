import { randomBytes } from 'node:crypto';

import type { EndpointView } from '../backends/endpoint-view.ts';
import type { UpstreamPools } from '../backends/upstream.ts';
import type { DataPlaneInit } from '../supervisor/data-plane.ts';
import type { Histogram } from '../telemetry/thread-metrics.ts';
import { SpanIds } from '../telemetry/spans/trace-context.ts';
import type { Engine } from './engine.ts';
import { LiveRequests } from './live-requests.ts';
import { MirrorOutages } from './mirror-outages.ts';

/** What the requests of one data thread share. A reload replaces the engine, and rarely the pools. */
export class Runtime {
  readonly init: DataPlaneInit;
  readonly endpoints: EndpointView;
  readonly callDuration: Histogram;
  /** Of calls of language models. */
  readonly modelCallDuration: Histogram;
  #mcpCallDuration: Histogram | null = null;
  readonly mirrorDuration: Histogram;
  readonly mirrorOutages: MirrorOutages;
  readonly spanIds = new SpanIds();
  readonly live = new LiveRequests();
  engine: Engine;
  pools: UpstreamPools;
  readonly #idPrefix: string;
  #ids = 0;

  constructor(parts: { init: DataPlaneInit; pools: UpstreamPools; endpoints: EndpointView; engine: Engine }) {
    this.init = parts.init;
    this.pools = parts.pools;
    this.endpoints = parts.endpoints;
    this.engine = parts.engine;
    this.callDuration = parts.init.telemetry.metrics.upstreamCall('Primary', 'Http');
    this.modelCallDuration = parts.init.telemetry.metrics.upstreamCall('Primary', 'Llm');
    this.mirrorDuration = parts.init.telemetry.metrics.upstreamCall('Mirror', 'Http');
    this.mirrorOutages = new MirrorOutages(parts.init.log.scope('mirror'));
    this.#idPrefix = `${randomBytes(4).toString('hex')}-${parts.init.threadIndex}`;
  }

  /** Of calls of MCP targets; most gateways make none. */
  get mcpCallDuration(): Histogram {
    return (this.#mcpCallDuration ??= this.init.telemetry.metrics.upstreamCall('Primary', 'Mcp'));
  }

  /** Unique over threads and restarts; made only for requests that are watched. */
  nextRequestId(): string {
    this.#ids += 1;
    return `${this.#idPrefix}-${this.#ids}`;
  }
}
