import type { ChatToolCall, ChatUsage } from '../../src/chat/answer.ts';
import type { AskResult } from '../../src/chat/ask.ts';
import type { Question } from '../../src/chat/formats/contract.ts';
import { formatDuration } from '../../src/shared/duration.ts';
import { clean } from '../terminal/text.ts';
import { WordWrap } from './word-wrap.ts';

/** Text of a model. A terminal gets nothing that it would obey; a file or a pipe gets it as it came. */
export function printable(text: string, terminal: boolean): string {
  if (!terminal) return text;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => clean(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** Prints an answer as it comes: on a terminal broken between words, elsewhere as it is. */
export class AnswerPrinter {
  readonly #wrap: WordWrap | undefined;
  #open = false;

  /** `columns` of the terminal; undefined for anything else. */
  constructor(columns: number | undefined) {
    this.#wrap = columns === undefined ? undefined : new WordWrap(columns);
  }

  add(text: string): string {
    if (text === '') return '';
    this.#open = !text.endsWith('\n');
    return this.#wrap === undefined ? text : this.#wrap.add(printable(text, true));
  }

  /** The rest, the end of the last line, and a line for each tool that the model wants called. */
  end(toolCalls: readonly ChatToolCall[]): string {
    const rest = this.#wrap?.end() ?? '';
    const lineEnd = this.#open ? '\n' : '';
    this.#open = false;
    return `${rest}${lineEnd}${callLines(toolCalls, this.#wrap !== undefined)}`;
  }
}

/** A line for each tool that a model wants called. */
export function callLines(toolCalls: readonly ChatToolCall[], terminal: boolean): string {
  return toolCalls.map((call) => printable(`calls ${call.name}(${call.arguments})\n`, terminal)).join('');
}

/** `gpt-demo: 12 tokens in, 34 out, stop; first text after 120ms, all after 1.2s`. */
export function factsLine({ message, firstTextMs, totalMs }: AskResult): string {
  const { model, usage, finish } = message;
  const counted = [usageText(usage), finish].filter(Boolean).join(', ');
  const times = [firstTextMs === null ? '' : `first text after ${ms(firstTextMs)}`, `all after ${ms(totalMs)}`];
  const facts = [counted, times.filter(Boolean).join(', ')].filter(Boolean).join('; ');
  return clean(`${model ?? 'the model'}: ${facts}`);
}

/** `12 tokens in (8 cached), 34 out (20 reasoning)`; empty when the service told nothing. */
export function usageText(usage: ChatUsage | undefined): string {
  if (usage === undefined) return '';
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  const input = inputTokens === undefined ? '' : `${inputTokens} tokens in${part(cachedInputTokens, 'cached')}`;
  const output = outputTokens === undefined ? '' : `${outputTokens} out${part(reasoningTokens, 'reasoning')}`;
  return [input, output].filter(Boolean).join(', ');
}

/** The whole answer for programs. */
export function askedDocument(question: Question, format: string, result: AskResult): object {
  const { message, url, status, streamed, firstTextMs, totalMs } = result;
  const { model, text, reasoning, toolCalls, finish, usage } = message;
  return {
    model: model ?? null,
    requestedModel: question.model,
    message: { role: 'assistant', content: text, reasoning: reasoning === '' ? null : reasoning, toolCalls },
    finish: finish ?? null,
    usage: {
      inputTokens: usage?.inputTokens ?? null,
      outputTokens: usage?.outputTokens ?? null,
      cachedInputTokens: usage?.cachedInputTokens ?? null,
      reasoningTokens: usage?.reasoningTokens ?? null,
    },
    timings: { firstTextMs: firstTextMs === null ? null : rounded(firstTextMs), totalMs: rounded(totalMs) },
    request: { url, format, streamed },
    status,
  };
}

function part(count: number | undefined, what: string): string {
  return count === undefined || count === 0 ? '' : ` (${count} ${what})`;
}

function ms(value: number): string {
  return formatDuration(value < 1000 ? Math.round(value) : Math.round(value / 10) * 10);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
