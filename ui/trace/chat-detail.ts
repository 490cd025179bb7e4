import { createParser } from 'eventsource-parser';
import type { TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { isObject } from '../../src/admin/protocol/lenient.ts';
import type { ChatMessage } from '../../src/chat/answer.ts';
import { isEventStream, messageIn } from '../../src/chat/recorded.ts';
import { usageText } from '../text/chat.ts';
import { decodeBody } from './body.ts';
import { answerExcerpt, bodyPair, formatsText, textOfBody, type ChatFacts } from './chat.ts';
import { differenceLines, valueText, type Format } from './detail.ts';
import type { DiffLine } from './diff.ts';
import { dollarsText } from './llm-details.ts';
import { MIN_SIDE_COLUMNS, sideBySide } from './side-by-side.ts';

/** What the request was to a language model, for the overview. */
export function chatOverview(chat: ChatFacts): object {
  const { provider, model, prompt, answer, usage, cost } = chat;
  const counted = usageText(usage);
  return {
    model: [model, provider === '' ? '' : `of ${provider}`].filter(Boolean).join(' '),
    formats: formatsText(chat),
    ...(prompt !== undefined && { asked: prompt }),
    ...(answer !== undefined && { answer: answer.text === '' ? answerExcerpt(answer) : answer.text }),
    ...(counted !== '' && { usage: counted }),
    ...(cost !== undefined && { cost: dollarsText(cost) }),
  };
}

/** The events of a recorded stream as one message, in front of them; nothing for any other body. */
export function messagePreface(body: string, number: number): string[] {
  const text = textOfBody(body);
  if (text === undefined || !isEventStream(text)) return [];
  const message = messageIn(text);
  if (message === undefined) return [];
  const count = eventsIn(text).length;
  return [`# The message in ${count} events`, valueText(messageView(message), 'yaml'), '', `# Event ${number}`];
}

interface Sides {
  readonly selected: number;
  readonly eventAt: (index: number) => TraceEvent | undefined;
  readonly numberOf: (index: number) => string;
  readonly columns: number;
  readonly format: Format;
}

interface SidesContent {
  readonly title: string;
  readonly text: string | readonly DiffLine[];
  readonly split?: number;
}

/** The bodies on both sides of a translation, beside each other where there is room; undefined where an event is about neither. */
export function bothSides(chat: ChatFacts, message: TraceMessage, sides: Sides): SidesContent | undefined {
  const pair = bodyPair(chat, message);
  if (pair === undefined) return undefined;
  const { eventAt, numberOf, columns, format, selected } = sides;
  // Of several tries the one that was chosen, not the last.
  const isSent = message.type === 'bodySnapshot' && message.stage === 'final request';
  const { client, answers } = pair;
  const service = isSent ? selected : pair.service;
  const [first, second] = answers ? [service, client] : [client, service];
  if (first === undefined || second === undefined) return undefined;
  const what = answers ? 'Service said → client got' : 'Client asked → service got';
  const title = `${what}, ${numberOf(first)} → ${numberOf(second)}`;
  const [left, right] = [bodyOf(eventAt(first)), bodyOf(eventAt(second))];
  const [before, after] = [bodyText(left, format), bodyText(inOrderOf(left, right), format)];
  if (before === after) return { title: `${title}: the same`, text: after };
  const difference = differenceLines(before, after);
  if (columns < MIN_SIDE_COLUMNS) return { title, text: difference };
  const { lines, split } = sideBySide(difference, columns);
  return { title, text: lines.join('\n'), split };
}

function bodyOf(event: TraceEvent | undefined): unknown {
  return event?.message.type === 'bodySnapshot' ? decodeBody(event.message.body) : '';
}

/** A body to be compared: JSON laid out, a stream as its message and then its events, one a line. */
function bodyText(body: unknown, format: Format): string {
  if (typeof body !== 'string') return valueText(body, format);
  if (!isEventStream(body)) return body;
  const found = messageIn(body);
  const events = eventsIn(body);
  const view = found === undefined ? [] : [valueText(messageView(found), format), ''];
  return [...view, `# ${events.length} events`, ...events].join('\n');
}

/** The second body with the fields that both have in the order of the first, so that equal ones meet. */
function inOrderOf(first: unknown, second: unknown): unknown {
  if (!isObject(first) || !isObject(second)) return second;
  const shared = Object.keys(first).filter((key) => key in second);
  return { ...Object.fromEntries(shared.map((key) => [key, second[key]])), ...second };
}

function messageView({ model, text, reasoning, toolCalls, finish, usage, error }: ChatMessage): object {
  return {
    ...(model !== undefined && { model }),
    ...(reasoning !== '' && { reasoning }),
    ...(text !== '' && { text }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(finish !== undefined && { finish }),
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
  };
}

function eventsIn(text: string): readonly string[] {
  const events: string[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push(event === undefined ? data : `${event} ${data}`),
  });
  parser.feed(text);
  parser.feed('\n\n');
  return events;
}
