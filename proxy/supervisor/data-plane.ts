import type { MessagePort } from 'node:worker_threads';

import type { GatewayConfig } from '../../src/config/ir/index.ts';
import type { Logger } from '../../src/shared/log.ts';
import type { AdminReply, AdminCall } from '../admin/admin-call.ts';
import type { McpReport } from '../mcp/records/report.ts';
import type { Resources } from '../resources/contract.ts';
import type { ThreadTelemetry } from '../telemetry/thread-telemetry.ts';

/** What carries the traffic of one data thread. The supervisor drives it; it knows no files, signals or admin server. */
export interface DataPlane {
  /**
   * Compiles a whole configuration and opens the sockets that it adds, beside what is live. Throws a `GwError` and leaves
   * nothing behind when any of it fails. New sockets do not answer before `commit`. One preparation at a time.
   * `rows` says where in `shared` the state of each identity lives.
   */
  prepare(config: GatewayConfig, revision: string, rows: SharedRows): Promise<void>;
  /** Makes what was prepared live, in one step; cannot fail. What is no longer used is drained in the background. */
  commit(): void;
  /** Forgets what was prepared and closes the sockets opened for it. */
  rollback(): void;
  /**
   * Asks clients to leave (`connection: close`, GOAWAY) and resolves when no connection is open. New connections are still
   * accepted, each asked to leave after its first response; with `closing`, those that came by now are the last.
   */
  drain(closing: boolean): Promise<void>;
  /** Closes every socket, whatever is in flight; what is told about it may take a moment to get away. */
  destroy(): void | Promise<void>;
  /** The bound sockets, prepared ones included; tells which number a bind on port 0 got. */
  addresses(): readonly BoundAddress[];
  /** One line for each live connection and exchange, oldest first. */
  liveTasks(): readonly string[];
  /** What has been seen of MCP servers and the sessions with them. */
  mcp(): McpReport;
}

export interface BoundAddress {
  readonly bindKey: string;
  readonly port: number;
}

/** What a data plane is given when its thread starts. */
export interface DataPlaneInit {
  /** 0 … threadCount - 1 */
  readonly threadIndex: number;
  readonly threadCount: number;
  /** Open sockets with `reusePort`: other threads listen on the same ports. */
  readonly reusePort: boolean;
  /** Of the gateway, as it calls itself to others. */
  readonly version: string;
  /** Memory that all threads of the replica see. */
  readonly shared: SharedMemory;
  readonly telemetry: ThreadTelemetry;
  /** Documents that the control thread has fetched; those of a configuration are there before it is prepared. */
  readonly resources: Resources;
  readonly log: Logger;
  readonly peers: Peers;
  /** Hands a request of an `internal` backend to the admin router of the control thread. */
  readonly admin: (call: AdminCall) => Promise<AdminReply>;
}

/** Ways between the data threads of a process. They lead from one to the other: the control thread only hands them over. */
export interface Peers {
  /** Opens a way to another thread; it closes when that has ended, and at once where there is none. */
  meet(threadIndex: number): MessagePort;
  /** Takes the ways that others open; they are closed while nobody does. */
  onMet(listener: (port: MessagePort) => void): void;
}

export interface SharedMemory {
  /** Rows of `EndpointStore`; read through an `EndpointView`. */
  readonly endpoints: SharedArrayBuffer;
  /** Rows of `BucketStore`; read through a `BucketView`. */
  readonly buckets: SharedArrayBuffer;
  /** Random bytes, one set per process: a TLS session begun in one thread resumes in another. */
  readonly ticketSecret: SharedArrayBuffer;
}

/** Rows of the shared memory by identity. */
export interface SharedRows {
  readonly endpoints: ReadonlyMap<string, number>;
  readonly buckets: ReadonlyMap<string, number>;
}

/** The export `createDataPlane` of a data-plane module. */
export type CreateDataPlane = (init: DataPlaneInit) => DataPlane;
