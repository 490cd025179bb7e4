import { stringify } from 'yaml';
import type { RequestState, TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { decodeBody, isBase64 } from './body.ts';
import { diffLines, type DiffLine } from './diff.ts';

export type Format = 'yaml' | 'json';

/** The whole event: keys sorted, bodies decoded, null parts of its states left out. */
export function eventText(event: TraceEvent, format: Format): string {
  return render(readable(event), format);
}

/** A request's state at one moment, ready to read; the same rules as for a whole event. */
export function snapshotText(state: RequestState, format: Format): string {
  return render(readableState(state), format);
}

/** A value of the screens' own in the format that is chosen; its keys stay in their order. */
export function valueText(value: unknown, format: Format): string {
  return rendered(value, format);
}

/** The state that an event carries, if it is of a kind that does. */
export function stateOf(event: TraceEvent): RequestState | undefined {
  const message = event.message;
  /* Read from the wire: a server may leave the field out or send null. */
  const state: RequestState | null | undefined = 'requestState' in message ? message.requestState : undefined;
  return typeof state === 'object' && state !== null ? state : undefined;
}

/** Line by line from one text to another; without a difference the text itself. */
export function differenceLines(before: string, after: string): DiffLine[] {
  return diffLines(before.split('\n'), after.split('\n'));
}

function readable(event: TraceEvent): unknown {
  const message: Record<string, unknown> = { ...event.message };
  const state = stateOf(event);
  if (state !== undefined) message['requestState'] = readableState(state);
  if (typeof message['body'] === 'string' && isBase64(message['body'])) message['body'] = decodeBody(message['body']);
  if (event.message.type === 'policySelection') message['effectivePolicy'] = withoutNulls(message['effectivePolicy']);
  return { ...event, message };
}

function readableState(state: RequestState): unknown {
  return withoutNulls({
    ...state,
    ...(state.request && { request: withReadableBody(state.request) }),
    ...(state.response && { response: withReadableBody(state.response) }),
  });
}

function withReadableBody<T extends { readonly body?: string }>(part: T): unknown {
  if (typeof part.body !== 'string' || !isBase64(part.body)) return part;
  return { ...part, body: decodeBody(part.body) };
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null && part !== undefined));
}

function render(value: unknown, format: Format): string {
  return rendered(sorted(value), format);
}

function rendered(value: unknown, format: Format): string {
  if (format === 'json') return JSON.stringify(value, undefined, 2);
  return stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false }).trimEnd();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, part]) => [key, sorted(part)]));
}
