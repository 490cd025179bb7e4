import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { clean, clipEnd, fit, fitRight, width } from '../terminal/text.ts';
import { decodeBody } from './body.ts';
import { valueText, type Format } from './detail.ts';
import { bothOf, GUARDRAIL, type McpCall, type McpRequestFacts } from './mcp.ts';
import { MIN_SIDE_COLUMNS, sideBySide } from './side-by-side.ts';
import { severityGlyph } from './summary.ts';
import { formatMicros } from './timing.ts';

/** What the request was to MCP servers, for the overview. */
export function mcpOverview(mcp: McpRequestFacts): object {
  const { what, version, session, problem, streamed, given, gave } = mcp;
  return {
    mcp: what,
    ...(given !== '' && { arguments: given }),
    ...(problem !== undefined && { outcome: problem }),
    ...(gave !== '' && { answer: gave }),
    ...(version !== undefined && { protocolVersion: version }),
    ...(session !== undefined && { session }),
    ...(streamed !== '' && { before: streamed }),
  };
}

const MIN_BAR = 8;
const MAX_BAR = 40;
const MAX_NAME = 44;
const TIME = 9;

/** The calls below their targets, each with its place on the request's time axis; as comments of YAML. */
export function callTree(
  { calls }: McpRequestFacts,
  { totalUs, columns }: { readonly totalUs: number; readonly columns: number },
): readonly string[] {
  if (calls.length === 0) return [];
  const targets = [...new Set(calls.map(({ target }) => target))];
  const widest = Math.max(...calls.map(({ what }) => width(what)));
  const name = Math.max(8, Math.min(widest, MAX_NAME, columns - 6 - TIME - 2));
  const room = columns - 6 - name - TIME - 2;
  const bar = room < MIN_BAR ? 0 : Math.min(MAX_BAR, room);
  const lines = targets.flatMap((target) => {
    const own = calls.filter((call) => call.target === target);
    const how = own.findLast((call) => call.how !== '')?.how ?? '';
    const head = `# ${[clean(target), how].filter(Boolean).join('  ')}`;
    return [
      head,
      ...own.flatMap((call, at) => callLines(call, { last: at === own.length - 1, name, bar, totalUs, columns })),
    ];
  });
  return ['# Calls', ...lines];
}

interface Shape {
  readonly last: boolean;
  readonly name: number;
  readonly bar: number;
  readonly totalUs: number;
  readonly columns: number;
}

function callLines(call: McpCall, shape: Shape): readonly string[] {
  const { what, startUs, endUs, outcome, severity } = call;
  const took = endUs === undefined ? '…' : formatMicros(endUs - startUs);
  const branch = shape.last ? '╰' : '├';
  const cells = shape.bar === 0 ? '' : `${barOf(call, shape)} `;
  const line = `# ${branch} ${severityGlyph(severity)} ${fit(clean(what), shape.name)} ${cells}${fitRight(took, TIME)}`;
  if (outcome === '') return [line.trimEnd()];
  const stem = shape.last ? ' ' : '│';
  return [line.trimEnd(), `# ${stem}   ${clipEnd(clean(outcome), Math.max(10, shape.columns - 6))}`];
}

function barOf({ startUs, endUs }: McpCall, { bar, totalUs }: Shape): string {
  const at = (us: number): number => (totalUs <= 0 ? 0 : (us / totalUs) * bar);
  const from = Math.min(bar - 1, Math.floor(at(startUs)));
  const to = Math.min(bar, Math.max(from + 1, Math.ceil(at(endUs ?? totalUs))));
  return `${' '.repeat(from)}${(endUs === undefined ? '╌' : '━').repeat(to - from)}${' '.repeat(bar - to)}`;
}

/** The calls for programs. */
export function callList({ calls }: McpRequestFacts): readonly object[] {
  return calls.map(({ target, how, what, startUs, endUs, outcome }) => ({
    target,
    ...(how !== '' && { how }),
    [target === GUARDRAIL ? 'said' : 'call']: what,
    start: formatMicros(startUs),
    ...(endUs !== undefined && { took: formatMicros(endUs - startUs) }),
    ...(outcome !== '' && { outcome }),
  }));
}

interface Asking {
  readonly selected: number;
  readonly eventAt: (index: number) => TraceEvent | undefined;
  readonly numberOf: (index: number) => string;
  readonly columns: number;
  readonly format: Format;
}

/** What was asked beside what came of it; undefined for events that are about neither. */
export function askedAndAnswered(
  mcp: McpRequestFacts,
  { selected, eventAt, numberOf, columns, format }: Asking,
): { readonly title: string; readonly text: string; readonly split?: number } | undefined {
  const both = bothOf(mcp, selected);
  if (both === undefined) return undefined;
  const [asked, answered] = [said(eventAt(both.asked)), said(eventAt(both.answered))];
  if (asked === undefined || answered === undefined) return undefined;
  const title = `Asked → answered, ${numberOf(both.asked)} → ${numberOf(both.answered)}`;
  const [left, right] = [valueText(asked, format), valueText(answered, format)];
  if (columns < MIN_SIDE_COLUMNS) return { title, text: `${left}\n\n${right}` };
  const beside = [
    ...left.split('\n').map((text) => ({ mark: '-' as const, text })),
    ...right.split('\n').map((text) => ({ mark: '+' as const, text })),
  ];
  const { lines, split } = sideBySide(beside, columns);
  return { title, text: lines.map((line) => unmarked(line, split)).join('\n'), split };
}

/** Nothing was taken away or added. */
function unmarked(line: string, split: number): string {
  const right = split + 3;
  return `${blankFirst(line.slice(0, right))}${blankFirst(line.slice(right))}`;
}

function blankFirst(text: string): string {
  return /^[-+] /.test(text) ? ` ${text.slice(1)}` : text;
}

/** The parameters of a message, or the result or error of an answer: the rest is of JSON-RPC itself. */
function said(event: TraceEvent | undefined): unknown {
  const message = event?.message;
  if (message === undefined || !('body' in message) || message.body === undefined) {
    return message !== undefined && 'error' in message && message.error !== null ? { error: message.error } : undefined;
  }
  const body = decodeBody(message.body);
  if (typeof body !== 'object' || body === null || !('jsonrpc' in body)) return body;
  const { jsonrpc: _, id: __, ...rest } = body as Readonly<Record<string, unknown>>; // an object, as was looked at
  return rest;
}
