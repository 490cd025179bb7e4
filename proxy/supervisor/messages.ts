import type { MessagePort } from 'node:worker_threads';

import type { SealedConfig } from '../../src/config/transfer.ts';
import type { LogFormat } from '../../src/shared/log.ts';
import type { AdminCall, AdminReply } from '../admin/admin-call.ts';
import type { CpuProfile, HeapProfile } from '../admin/pprof/thread-profiler.ts';
import type { McpReport } from '../mcp/records/report.ts';
import type { ResourceContent } from '../resources/content.ts';
import type { Batch } from '../telemetry/outbox.ts';
import type { TraceFilterSet } from '../telemetry/trace-filters.ts';
import type { TraceItem } from '../telemetry/trace-tap.ts';
import type { BoundAddress, SharedRows } from './data-plane.ts';
import type { SeriesRegistration } from './shared-metrics.ts';

/** What a data thread is started with; plain data. */
export interface ThreadInit {
  /** Module that exports `createDataPlane`. */
  readonly module: string;
  readonly threadIndex: number;
  readonly threadCount: number;
  readonly reusePort: boolean;
  /** Of the gateway, as it calls itself to others. */
  readonly version: string;
  readonly endpoints: SharedArrayBuffer;
  readonly buckets: SharedArrayBuffer;
  readonly ticketSecret: SharedArrayBuffer;
  readonly traceGate: SharedArrayBuffer;
  /** One counter per thread, bumped each second by a thread that is alive. */
  readonly heartbeats: SharedArrayBuffer;
  readonly logFilter: string;
  readonly logFormat: LogFormat;
  readonly sensitiveHeaders: readonly string[];
}

export interface PrepareArgument {
  readonly config: SealedConfig;
  readonly revision: string;
  readonly rows: SharedRows;
  /** Every fetched document that the configuration needs. */
  readonly resources: readonly ResourceContent[];
}

/** Facts about a thread's runtime that only the thread itself can tell. */
export interface ThreadRuntime {
  readonly thread: string;
  readonly heap: {
    readonly used: number;
    readonly total: number;
    readonly limit: number;
    readonly external: number;
    readonly arrayBuffers: number;
  };
  /** Since the thread began; 0..1 */
  readonly eventLoopUtilization: number;
  /** Seconds, since the last question. */
  readonly eventLoopLag: { readonly mean: number; readonly max: number };
}

/** What the control thread says to a data thread. */
export type ControlToData = {
  readonly calls: {
    readonly prepare: { readonly argument: PrepareArgument; readonly result: readonly BoundAddress[] };
    readonly commit: { readonly argument: null; readonly result: null };
    readonly rollback: { readonly argument: null; readonly result: null };
    readonly drain: { readonly argument: { readonly closing: boolean }; readonly result: null };
    readonly destroy: { readonly argument: null; readonly result: null };
    readonly tasks: { readonly argument: null; readonly result: readonly string[] };
    readonly mcp: { readonly argument: null; readonly result: McpReport };
    /** All expressions of watchers that there are. */
    readonly traceFilters: { readonly argument: TraceFilterSet; readonly result: null };
    readonly startCpu: { readonly argument: number; readonly result: null };
    readonly stopCpu: { readonly argument: null; readonly result: CpuProfile };
    readonly heapProfile: { readonly argument: null; readonly result: HeapProfile };
    readonly runtime: { readonly argument: null; readonly result: ThreadRuntime };
  };
  readonly notes: {
    readonly logFilter: string;
    readonly logWritten: null;
    readonly traceTaken: null;
    /** Fetched documents have changed. */
    readonly resources: readonly ResourceContent[];
    /** Another data thread has opened a way to this one. */
    readonly met: MessagePort;
  };
};

/** What a data thread says to the control thread. */
export type DataToControl = {
  readonly calls: {
    readonly admin: { readonly argument: AdminCall; readonly result: AdminReply };
    /** Asks for a fetched document, by its key, to be fetched again; what has changed comes as a note before the answer. */
    readonly refetch: { readonly argument: string; readonly result: null };
  };
  readonly notes: {
    readonly ready: null;
    /** The data plane could not be made; the thread is of no use. */
    readonly broken: string;
    readonly log: Batch<string>;
    readonly trace: Batch<TraceItem>;
    readonly series: SeriesRegistration;
    /** Opens a way to another data thread: the other end of it is to be handed on. */
    readonly meet: { readonly thread: number; readonly port: MessagePort };
  };
};
