import { asObject, asText } from '../../src/admin/protocol/lenient.ts';
import type { TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import type { ChatMessage, ChatUsage } from '../../src/chat/answer.ts';
import { framesAsEvents } from '../../src/chat/aws-frames.ts';
import { promptIn } from '../../src/chat/prompt.ts';
import { messageIn } from '../../src/chat/recorded.ts';
import { usageText } from '../text/chat.ts';
import { inflate, utf8 } from './body.ts';
import { costOf, dollarsText } from './llm-details.ts';

/** What is known of a request to a language model. */
export interface ChatFacts {
  readonly provider: string;
  readonly model: string | undefined;
  /** Formats of the client and of the service, as servers spell them. */
  readonly input: string | undefined;
  readonly native: string | undefined;
  readonly streaming: boolean;
  readonly prompt: string | undefined;
  readonly answer: ChatMessage | undefined;
  readonly usage: ChatUsage | undefined;
  /** Dollars; undefined where there is no price. */
  readonly cost: number | undefined;
  /** Indexes of the events with the latest body of each stage. */
  readonly bodies: Readonly<Partial<Record<ChatStage, number>>>;
}

export type ChatStage = 'llm request before translation' | 'final request' | 'llm raw response' | 'response';

/** For each stage the one on the other side of the translation; the client's first. */
const PAIRS: readonly (readonly [client: ChatStage, service: ChatStage])[] = [
  ['llm request before translation', 'final request'],
  ['response', 'llm raw response'],
];

/** More than this of a body is not read for a line. */
const MAX_READ = 1024 * 1024;
const MAX_EXCERPT = 160;

/** The facts after one more message; undefined as long as nothing says that a language model is asked. */
export function withChat(chat: ChatFacts | undefined, message: TraceMessage, index: number): ChatFacts | undefined {
  switch (message.type) {
    case 'llmRouteResolved':
      return { ...(chat ?? unknown), provider: message.provider, input: message.routeType };
    case 'llmRequestDetected':
      return {
        ...(chat ?? unknown),
        provider: message.provider,
        input: message.inputFormat,
        native: message.upstreamRouteType ?? undefined,
        model: message.requestModel ?? undefined,
        streaming: message.streaming,
      };
    case 'bodySnapshot':
      return chat === undefined ? undefined : withBody(chat, message, index);
    case 'policyEvent':
      return chat === undefined || message.kind !== 'llm_cost' ? chat : withCost(chat, message.details);
    default:
      return chat;
  }
}

/** `asks "…"`, `says "…"`: what the body of a snapshot means, for its line. */
export function chatExcerpt(chat: ChatFacts | undefined, message: TraceMessage): string {
  if (chat === undefined || message.type !== 'bodySnapshot') return '';
  if (message.stage === 'llm request before translation')
    return chat.prompt === undefined ? '' : `asks ${quoted(chat.prompt)}`;
  if (message.stage !== 'llm raw response' && message.stage !== 'response') return '';
  return chat.answer === undefined ? '' : answerExcerpt(chat.answer);
}

/** `says "…"`, `calls get_weather({…})`. */
export function answerExcerpt({ text, toolCalls, error }: ChatMessage): string {
  const calls = toolCalls.map((call) => `calls ${call.name}(${call.arguments})`).join(', ');
  const failed = error === undefined ? '' : `fails: ${error}`;
  return [text === '' ? '' : `says ${quoted(text)}`, calls, failed].filter(Boolean).join(', ');
}

/** `9 tokens in, 52 out, $0.00012`; empty while nothing is known. */
export function spentText({ usage, cost }: ChatFacts): string {
  return [usageText(usage), cost === undefined ? '' : dollarsText(cost)].filter(Boolean).join(', ');
}

/** `Completions → Messages, streamed`. */
export function formatsText({ input, native, streaming }: ChatFacts): string {
  const formats = native === undefined || native === input ? (input ?? '') : `${input ?? ''} → ${native}`;
  return [formats, streaming ? 'streamed' : ''].filter(Boolean).join(', ');
}

/** The bodies on both sides of the translation that an event is about; undefined for any other event. */
export function bodyPair(
  { bodies }: ChatFacts,
  message: TraceMessage,
):
  | { readonly client: number | undefined; readonly service: number | undefined; readonly answers: boolean }
  | undefined {
  const isAboutRequest =
    message.type === 'llmRequestDetected' || (message.type === 'policyEvent' && message.kind === 'llm_translation');
  const stage = isAboutRequest ? 'final request' : message.type === 'bodySnapshot' ? message.stage : undefined;
  const pair = PAIRS.find((stages) => stages.some((each) => each === stage));
  if (pair === undefined) return undefined;
  const [client, service] = pair;
  return { client: bodies[client], service: bodies[service], answers: client === 'response' };
}

const unknown: ChatFacts = {
  provider: '',
  model: undefined,
  input: undefined,
  native: undefined,
  streaming: false,
  prompt: undefined,
  answer: undefined,
  usage: undefined,
  cost: undefined,
  bodies: {},
};

function withBody(
  chat: ChatFacts,
  { stage, body }: { readonly stage: string; readonly body: string },
  index: number,
): ChatFacts {
  const known = PAIRS.flat().find((each) => each === stage);
  if (known === undefined) return chat;
  const bodies = { ...chat.bodies, [known]: index };
  if (known === 'final request') return { ...chat, bodies };
  const text = textOfBody(body);
  if (known === 'llm request before translation')
    return { ...chat, bodies, prompt: text === undefined ? undefined : promptIn(text) };
  const answer = (text === undefined ? undefined : messageIn(text)) ?? chat.answer;
  return { ...chat, bodies, answer, usage: chat.usage ?? answer?.usage };
}

/** The text of a recorded body; undefined when it is none, or too long to be read for a line. */
export function textOfBody(base64: string): string | undefined {
  if (base64.length > MAX_READ) return undefined;
  const bytes = inflate(Buffer.from(base64, 'base64'));
  return utf8(bytes) ?? framesAsEvents(bytes);
}

function withCost(chat: ChatFacts, details: unknown): ChatFacts {
  const usage = asObject(asObject(details)['usage']);
  const counted = Object.fromEntries(
    ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'].flatMap((key) => {
      const value = usage[key];
      return typeof value === 'number' ? [[key, value]] : [];
    }),
  );
  const model = chat.model ?? asText(asObject(details)['model']);
  return { ...chat, model, cost: costOf(details), usage: { ...chat.usage, ...counted } };
}

function quoted(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return JSON.stringify(line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line);
}
