import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { emptyList, type AppendList } from './append-list.ts';
import type { Format } from './detail.ts';
import type { RequestFacts } from './request.ts';

export type Pane = 'events' | 'detail';
export type DetailMode = 'event' | 'snapshot' | 'diff';
export type ExportFormat = 'jsonl' | 'har' | 'curl';
export type Tone = 'info' | 'success' | 'error';

/** An event that has arrived, with what every frame needs of it worked out once. */
export interface Entry {
  readonly event: TraceEvent;
  /** Index into `groups`. */
  readonly request: number;
  /** Its number within its request, from 1. */
  readonly number: number;
  /** End of the event before it in the same request, µs. */
  readonly sinceUs: number;
  readonly label: string;
  readonly summary: string;
  /** Lower-case label and summary. */
  readonly searchable: string;
}

/** The events of one request, as indexes into `entries`, ascending. */
export interface Group {
  readonly id: string;
  readonly facts: RequestFacts;
  readonly events: AppendList<number>;
  /** Those that the filter lets through. */
  readonly visible: AppendList<number>;
  /** Those that carry a snapshot. */
  readonly states: AppendList<number>;
  readonly collapsed: boolean;
}

/** A row is a request's heading (`event` undefined) or one of its events. */
export interface Selection {
  readonly request: number;
  readonly event: number | undefined;
}

/** What the user looks for: rows that do not match are hidden, or only the matches are marked. */
export interface Query {
  readonly text: string;
  readonly hides: boolean;
}

export type Overlay =
  | { readonly kind: 'none' }
  | { readonly kind: 'prompt'; readonly pane: Pane; readonly text: string; readonly before: Query }
  | { readonly kind: 'palette'; readonly text: string; readonly index: number }
  | { readonly kind: 'help'; readonly top: number }
  | { readonly kind: 'export'; readonly index: number };

/** The text of the detail pane; worked out when its `key` changes. */
export interface DetailText {
  readonly key: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly marks: readonly (' ' | '+' | '-')[] | undefined;
  readonly blocks: readonly boolean[];
  /** Column of the bar between two texts that stand beside each other. */
  readonly split?: number | undefined;
  readonly highlighted: boolean;
}

export interface StreamState {
  readonly open: number;
  /** Set once every stream has ended. */
  readonly complete: boolean;
}

export interface TraceState {
  readonly title: string;
  /** Whether `q` at the top returns to another screen rather than leaving the program. */
  readonly nested: boolean;
  readonly canResend: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly entries: AppendList<Entry>;
  readonly groups: readonly Group[];
  readonly groupById: ReadonlyMap<string, number>;
  /** For each stream the group that its events without a request id belong to. */
  readonly current: ReadonlyMap<number, number>;
  readonly stream: StreamState;
  /** For each group the number of the first row it takes; one more at the end: the number of all rows. */
  readonly rowStarts: readonly number[];
  readonly selection: Selection | undefined;
  /** The selection follows the newest event. */
  readonly attached: boolean;
  readonly top: number;
  readonly focus: Pane;
  readonly zoomed: boolean;
  readonly waterfall: boolean;
  readonly onlyProblems: boolean;
  readonly filter: Query;
  readonly search: string;
  readonly mode: DetailMode;
  readonly format: Format;
  readonly wrap: boolean;
  readonly pinned: number | undefined;
  readonly comparing: boolean;
  readonly detail: DetailText;
  readonly detailTop: number;
  readonly detailLeft: number;
  readonly overlay: Overlay;
  readonly status: { readonly text: string; readonly tone: Tone };
}

const noDetail: DetailText = { key: '', title: '', lines: [], marks: undefined, blocks: [], highlighted: false };

export interface ViewerOptions {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly canResend?: boolean;
  readonly nested?: boolean;
}

/** A viewer that has seen nothing yet. */
export function initialState(options: ViewerOptions): TraceState {
  return {
    title: options.title,
    nested: options.nested ?? false,
    canResend: options.canResend ?? false,
    columns: options.columns,
    rows: options.rows,
    entries: emptyList(),
    groups: [],
    groupById: new Map(),
    current: new Map(),
    stream: { open: 1, complete: false },
    rowStarts: [0],
    selection: undefined,
    attached: true,
    top: 0,
    focus: 'events',
    zoomed: false,
    waterfall: false,
    onlyProblems: false,
    filter: { text: '', hides: true },
    search: '',
    mode: 'event',
    format: 'yaml',
    wrap: false,
    pinned: undefined,
    comparing: false,
    detail: noDetail,
    detailTop: 0,
    detailLeft: 0,
    overlay: { kind: 'none' },
    status: { text: '', tone: 'info' },
  };
}
