import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { clean, clipEnd, fit, fitRight, width } from '../terminal/text.ts';
import type { Style } from '../theme.ts';
import { answerExcerpt, formatsText, spentText } from '../trace/chat.ts';
import { excerptOf } from '../trace/excerpt.ts';
import { callTree } from '../trace/mcp-detail.ts';
import { noFacts, requestLine, rpcProblem, statusText, withEvent, type RequestFacts } from '../trace/request.ts';
import { lostRoutes } from '../trace/lost-routes.ts';
import { labelOf, severityGlyph, summaryOf } from '../trace/summary.ts';
import { durationUs, endUs, formatMicros, slowestStep, startUs } from '../trace/timing.ts';
import { slowestName } from '../trace/waterfall.ts';
import { plainPaint, type Paint } from './paint.ts';

export interface TraceTextOptions {
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number | undefined;
  readonly paint?: Paint | undefined;
}

/** Of the tree of calls, where there is no terminal. */
const DEFAULT_COLUMNS = 100;
const OFFSET = 9;
const DURATION = 9;
const TYPE = 14;
const INDENT = OFFSET + DURATION + TYPE + 2 * 3 + 2;

/** What one request met, for pipes and CI: a head line, one line for each event, the slowest step and the total. */
export function renderTrace(events: readonly TraceEvent[], options: TraceTextOptions = {}): string {
  const paint = options.paint ?? plainPaint;
  const cut = (line: string): string => (options.width === undefined ? line : clipEnd(line, options.width));
  let facts = noFacts;
  const rows = events.flatMap((event, index) => {
    facts = withEvent(facts, event, index);
    // What a body means is known by then, not by the end: another try may say something else.
    const summary = summaryOf(event, excerptOf(facts, event.message));
    return [
      eventLine(event, summary, { paint, columns: options.width }),
      ...reasonLines(event).map((line) => paint('dim', cut(line))),
    ];
  });
  return [headLine(facts, events, paint), titleLine(paint), ...rows, ...footLines(facts, events, options)]
    .map((line) => `${line}\n`)
    .join('');
}

function headLine(facts: RequestFacts, events: readonly TraceEvent[], paint: Paint): string {
  const id = events.find((event) => event.requestId !== undefined)?.requestId;
  const rest = [id === undefined ? '' : `id ${id}`, facts.startTime ?? ''].filter(Boolean).join('  ');
  return [paint('bold', clean(requestLine(facts))), paint('dim', clean(rest))].filter(Boolean).join('  ');
}

function titleLine(paint: Paint): string {
  return paint(
    'dim',
    `${fitRight('OFFSET', OFFSET)}  ${fitRight('DURATION', DURATION)}  ${fit('TYPE', TYPE + 2)}  SUMMARY`,
  );
}

const STYLES: Readonly<Record<TraceEvent['severity'], Style>> = {
  success: 'success',
  info: 'plain',
  warn: 'warn',
  error: 'error',
};

function eventLine(
  event: TraceEvent,
  summaryText: string,
  { paint, columns }: { readonly paint: Paint; readonly columns: number | undefined },
): string {
  const took = durationUs(event);
  const offset = fitRight(formatMicros(startUs(event)), OFFSET);
  const duration = fitRight(took === undefined ? '' : formatMicros(took), DURATION);
  const label = labelOf(event);
  const type = width(label) > TYPE ? clean(label) : fit(label, TYPE);
  const summary = clean(summaryText);
  const room = columns === undefined ? summary : clipEnd(summary, Math.max(10, columns - INDENT));
  const style = STYLES[event.severity];
  return `${paint('dim', offset)}  ${duration}  ${paint(style, severityGlyph(event.severity))} ${paint(style, type)}  ${paint(style, room)}`;
}

/** Why the routes that were not chosen were not. */
function reasonLines(event: TraceEvent): readonly string[] {
  return lostRoutes(event).map(({ route, reason }) => `${' '.repeat(INDENT)}not ${clean(route)}: ${clean(reason)}`);
}

function footLines(
  facts: RequestFacts,
  events: readonly TraceEvent[],
  { width: columns, paint = plainPaint }: TraceTextOptions,
): readonly string[] {
  const total = endUs(events);
  const slowest = slowestLine(events, total);
  const state = facts.finished ? `status ${statusText(facts)}` : 'not finished';
  const failure = facts.error === undefined ? '' : `, error: ${clean(facts.error)}`;
  const problem = rpcProblem(facts);
  const said = problem === undefined ? '' : `, ${problem}`;
  const style: Style = facts.errors > 0 || problem !== undefined || (facts.status ?? 0) >= 500 ? 'error' : 'bold';
  return [
    ...chatLines(facts),
    ...mcpLines(facts, { columns: columns ?? DEFAULT_COLUMNS, paint }),
    ...a2aLines(facts),
    ...(slowest === undefined ? [] : [slowest]),
    paint(style, `total ${formatMicros(total)}, ${state}${said}${failure}`),
  ];
}

/** Which model said what, and what that took. */
function chatLines({ chat }: RequestFacts): readonly string[] {
  if (chat === undefined) return [];
  const { provider, model, prompt, answer } = chat;
  const spent = spentText(chat);
  const head = [[model, formatsText(chat)].filter(Boolean).join(', '), spent].filter(Boolean).join('; ');
  return [
    `model: ${provider} ${head}`,
    ...(prompt === undefined ? [] : [`asked: ${prompt.trim().replaceAll(/\s+/g, ' ')}`]),
    ...(answer === undefined ? [] : [`answer: ${answerExcerpt(answer).replace(/^says /, '')}`]),
  ].map(clean);
}

/** Which servers were asked what, and when. */
function mcpLines(
  { mcp, totalUs }: RequestFacts,
  { columns, paint }: { readonly columns: number; readonly paint: Paint },
): readonly string[] {
  if (mcp === undefined || mcp.calls.length === 0) return [];
  const [, ...lines] = callTree(mcp, { totalUs, columns });
  return lines.map((line) => paint(/^# [├╰] ✗/.test(line) ? 'error' : 'plain', clean(line.slice(2))));
}

/** What an agent was asked, what it said, and how its task stands. */
function a2aLines({ a2a }: RequestFacts): readonly string[] {
  if (a2a === undefined) return [];
  const { asked, answer, taskState, taskId } = a2a;
  const task = [taskState, taskId].filter(Boolean).join(' ');
  return [
    ...(asked === undefined ? [] : [`asked: ${asked.trim().replaceAll(/\s+/g, ' ')}`]),
    ...(answer === undefined ? [] : [`answer: ${answer.trim().replaceAll(/\s+/g, ' ')}`]),
    ...(task === '' ? [] : [`task: ${task}`]),
  ].map(clean);
}

function slowestLine(events: readonly TraceEvent[], totalUs: number): string | undefined {
  const slowest = slowestStep(events);
  const event = slowest === undefined ? undefined : events[slowest.index];
  if (slowest === undefined || event === undefined || totalUs <= 0) return undefined;
  const share = Math.round((slowest.us / totalUs) * 100);
  return clean(`slowest step: ${slowestName(slowest, event)}, ${formatMicros(slowest.us)} (${share} %)`);
}
