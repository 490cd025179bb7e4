import { createParser } from 'eventsource-parser';
import { asArray, asNumber, asObject, asText, isObject } from '../../src/admin/protocol/lenient.ts';
import type { TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { isEventStream } from '../../src/chat/recorded.ts';
import { textOfBody } from './chat.ts';

/** What is known of a call of an agent. */
export interface A2aRequestFacts {
  readonly method: string;
  /** The parts of the message that was sent, and of what came. */
  readonly asked: string | undefined;
  readonly answer: string | undefined;
  readonly taskId: string | undefined;
  readonly taskState: string | undefined;
  readonly contextId: string | undefined;
  /** Of a stream. */
  readonly events: number | undefined;
  /** `error -32001`; undefined while all is well. */
  readonly problem: string | undefined;
}

const MAX_EXCERPT = 160;
/** Agents nest as they like. */
const MAX_DEPTH = 8;

/** The facts after one more message; undefined as long as nothing says that an agent is called. */
export function withA2a(a2a: A2aRequestFacts | undefined, message: TraceMessage): A2aRequestFacts | undefined {
  if (message.type === 'policyEvent' && (message.kind === 'a2a_request' || message.kind === 'a2a'))
    return withDetails(a2a ?? unknown, message.kind, asObject(message.details));
  if (a2a === undefined || message.type !== 'bodySnapshot') return a2a;
  if (message.stage === 'final request') return { ...a2a, asked: partsOf(message.body) };
  return message.stage === 'response' ? { ...a2a, answer: partsOf(message.body) } : a2a;
}

/** `asks "…"`, `says "…"`: what the body of a snapshot means, for its line. */
export function a2aExcerpt(a2a: A2aRequestFacts | undefined, message: TraceMessage): string {
  if (a2a === undefined || message.type !== 'bodySnapshot') return '';
  const said = message.stage === 'final request' ? a2a.asked : message.stage === 'response' ? a2a.answer : undefined;
  return said === undefined ? '' : `${message.stage === 'response' ? 'says' : 'asks'} ${short(JSON.stringify(said))}`;
}

/** `message/send: success, task working 1f2e, context 3a4b, 3 events`. */
export function a2aSummary(details: unknown): string {
  const facts = asObject(details);
  const outcome = [asText(facts['outcome']) ?? '', codeOf(facts['errorCode'])].filter(Boolean).join(' ');
  const { taskId, taskState, contextId, events } = withDetails(unknown, 'a2a', facts);
  const kind = asText(facts['resultKind']) ?? '';
  const task = ['task', taskState, taskId].filter(Boolean).join(' ');
  const told = [
    outcome,
    kind === 'task' ? task : kind,
    kind === 'task' || (taskId ?? taskState) === undefined ? '' : task,
    contextId === undefined ? '' : `context ${contextId}`,
    events === undefined ? '' : `${events} ${events === 1 ? 'event' : 'events'}`,
  ].filter(Boolean);
  const method = asText(facts['method']) ?? '?';
  return told.length === 0 ? method : `${method}: ${told.join(', ')}`;
}

/** What the request was to an agent, for the overview. */
export function a2aOverview({ method, asked, answer, problem, ...rest }: A2aRequestFacts): object {
  const { taskId, taskState, contextId, events } = rest;
  return {
    agent: method,
    ...(problem !== undefined && { outcome: problem }),
    ...(asked !== undefined && { asked }),
    ...(answer !== undefined && { answer }),
    ...(taskState !== undefined && { taskState }),
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(events !== undefined && { streamEvents: events }),
  };
}

const unknown: A2aRequestFacts = {
  method: '',
  asked: undefined,
  answer: undefined,
  taskId: undefined,
  taskState: undefined,
  contextId: undefined,
  events: undefined,
  problem: undefined,
};

function withDetails(a2a: A2aRequestFacts, kind: string, details: Readonly<Record<string, unknown>>): A2aRequestFacts {
  const method = asText(details['method']) ?? a2a.method;
  if (kind === 'a2a_request') return { ...a2a, method };
  return {
    ...a2a,
    method,
    taskId: asText(details['taskId']),
    taskState: asText(details['taskState']),
    contextId: asText(details['contextId']),
    events: asNumber(details['events']),
    problem: details['outcome'] === 'error' ? `error ${codeOf(details['errorCode'])}`.trimEnd() : undefined,
  };
}

function codeOf(code: unknown): string {
  return asText(code) ?? String(asNumber(code) ?? '');
}

/** The text of the parts in a body, whole or a stream; undefined when it has none. */
function partsOf(base64: string): string | undefined {
  const text = textOfBody(base64);
  if (text === undefined) return undefined;
  const said: string[] = [];
  if (isEventStream(text)) {
    const parser = createParser({ onEvent: ({ data }) => collectParts(parsed(data), said, 0) });
    parser.feed(text);
    // The last event of a body that was cut may have no blank line behind it.
    parser.feed('\n\n');
  } else collectParts(parsed(text), said, 0);
  return said.length === 0 ? undefined : said.join(' ');
}

function collectParts(value: unknown, said: string[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value) collectParts(each, said, depth + 1);
    return;
  }
  if (!isObject(value)) return;
  for (const part of asArray(value['parts'])) said.push(partText(asObject(part)));
  for (const [key, inner] of Object.entries(value))
    // What was said before is not what is said now.
    if (key !== 'parts' && key !== 'history') collectParts(inner, said, depth + 1);
}

function partText(part: Readonly<Record<string, unknown>>): string {
  const text = asText(part['text']);
  if (text !== undefined) return text;
  if ('data' in part) return JSON.stringify(part['data']);
  const file = asObject(part['file']);
  const name = asText(part['filename']) ?? asText(file['name']) ?? asText(part['url']) ?? asText(file['uri']);
  return `[${name ?? 'file'}]`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function short(text: string): string {
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}
