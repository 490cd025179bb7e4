import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import type { AppendList } from '../trace/append-list.ts';
import type { RequestFacts } from '../trace/request.ts';
import type { Tone, TraceState } from '../trace/state.ts';

/** Requests that are kept; older ones are forgotten. */
export const MAX_REQUESTS = 1000;

export interface LiveRequest {
  readonly id: string;
  readonly facts: RequestFacts;
  readonly events: AppendList<TraceEvent>;
}

/** What has finished since the screen was opened. */
export interface Totals {
  readonly finished: number;
  /** By the first digit of the status, `0` for none. */
  readonly byClass: Readonly<Record<string, number>>;
  /** How many finished in each of the last seconds, ascending. */
  readonly recent: readonly { readonly second: number; readonly count: number }[];
}

export type LiveOverlay =
  | { readonly kind: 'none' }
  | { readonly kind: 'prompt'; readonly text: string; readonly before: string }
  | { readonly kind: 'palette'; readonly text: string; readonly index: number }
  | { readonly kind: 'help'; readonly top: number };

export interface LiveState {
  readonly title: string;
  readonly addresses: readonly string[];
  readonly curls: readonly string[];
  readonly canResend: boolean;
  readonly columns: number;
  readonly rows: number;
  /** Oldest first, at most `MAX_REQUESTS`. */
  readonly requests: readonly LiveRequest[];
  /** How many have been forgotten: the number of the first one kept. */
  readonly forgotten: number;
  /** Each kept request's number; its place is the number less `forgotten`. */
  readonly numberById: ReadonlyMap<string, number>;
  /** While paused: what the table showed at that moment. */
  readonly frozen: { readonly requests: readonly LiveRequest[]; readonly seen: number } | undefined;
  /** What the table shows: after pause, filter and problems only. */
  readonly shown: readonly LiveRequest[];
  readonly selectedId: string | undefined;
  readonly attached: boolean;
  readonly top: number;
  readonly filter: string;
  readonly onlyProblems: boolean;
  readonly totals: Totals;
  readonly nowMs: number;
  readonly ended: boolean;
  /** The trace viewer of one request, when it is open. */
  readonly viewer: { readonly id: string; readonly state: TraceState } | undefined;
  readonly overlay: LiveOverlay;
  readonly status: { readonly text: string; readonly tone: Tone };
}

export interface LiveOptions {
  readonly title: string;
  readonly addresses: readonly string[];
  readonly curls: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly canResend?: boolean;
}

/** A live screen that has seen nothing yet. */
export function initialLive(options: LiveOptions): LiveState {
  return {
    title: options.title,
    addresses: options.addresses,
    curls: options.curls,
    canResend: options.canResend ?? false,
    columns: options.columns,
    rows: options.rows,
    requests: [],
    forgotten: 0,
    numberById: new Map(),
    frozen: undefined,
    shown: [],
    selectedId: undefined,
    attached: true,
    top: 0,
    filter: '',
    onlyProblems: false,
    totals: { finished: 0, byClass: {}, recent: [] },
    nowMs: 0,
    ended: false,
    viewer: undefined,
    overlay: { kind: 'none' },
    status: { text: '', tone: 'info' },
  };
}
