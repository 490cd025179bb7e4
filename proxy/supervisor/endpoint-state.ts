import type { GatewayConfig, HostBackend, Service, Workload } from '../../src/config/ir/index.ts';
import type { LiveEndpoints } from '../admin/config-dump/backends.ts';
import {
  endpointIdentities,
  hostIdentity,
  memberIdentity,
  virtualModelIdentity,
} from '../backends/endpoint-identity.ts';
import { EndpointStore } from '../backends/endpoint-store.ts';
import type { EndpointInfo } from '../backends/endpoint-view.ts';
import { serviceEndpoints } from '../backends/service-endpoints.ts';
import { type ReservedRows, RowUse } from '../shared-rows/reserved-rows.ts';

/** The endpoint state of the replica and who uses it: the live configuration, and for a moment the one that is tried. */
export class EndpointRows {
  readonly #store = new EndpointStore();
  readonly #use = new RowUse(this.#store);

  get buffer(): SharedArrayBuffer {
    return this.#store.buffer;
  }

  reserve(config: GatewayConfig): ReservedRows {
    return this.#use.reserve(endpointIdentities(config));
  }

  /** The state as it is now, to be looked at without changing it. */
  copy(config: GatewayConfig): { memory: SharedArrayBuffer; rows: ReadonlyMap<string, number> } {
    const reserved = this.reserve(config);
    reserved.giveBack();
    return { memory: this.buffer.slice(0), rows: reserved.rows };
  }

  live(nowMs: number): LiveEndpoints {
    return {
      nowMs,
      ofBackend: (backend: HostBackend) => this.#store.describe(hostIdentity(backend), nowMs),
      ofMember: (key: string) => this.#store.describe(memberIdentity(key), nowMs),
      spentOn: (key: string) => this.#store.spending(memberIdentity(key)),
      ofVirtualModel: (name: string) => this.#store.describe(virtualModelIdentity(name), nowMs),
      spentThrough: (name: string) => this.#store.spending(virtualModelIdentity(name)),
      ofService: (service, workload) => this.#ofService({ service, workload, nowMs }),
    };
  }

  /** The busiest port of a workload that serves several of one service. */
  #ofService(of: { service: Service; workload: Workload; nowMs: number }): EndpointInfo | undefined {
    const infos = Object.keys(of.service.ports)
      .flatMap((port) => serviceEndpoints(of.service, Number(port), [of.workload]))
      .map(({ identity }) => this.#store.describe(identity, of.nowMs))
      .filter((info) => info !== undefined);
    return infos.sort((a, b) => b.totalRequests - a.totalRequests)[0];
  }
}
