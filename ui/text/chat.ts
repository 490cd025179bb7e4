import type { ChatMessage, ChatUsage } from '../../src/chat/answer.ts';
import type { AskResult } from '../../src/chat/ask.ts';
import type { Question } from '../../src/chat/formats/contract.ts';
import { formatDuration } from '../../src/shared/duration.ts';
import { clean } from '../terminal/text.ts';

/** Text of a model. A terminal gets nothing that it would obey; a file or a pipe gets it as it came. */
export function printable(text: string, terminal: boolean): string {
  if (!terminal) return text;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => clean(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** What stands behind the text: a line for each tool that the model wants called, and the end of the last line. */
export function restOf({ text, toolCalls }: ChatMessage, terminal: boolean): string {
  const open = text !== '' && !text.endsWith('\n') ? '\n' : '';
  return `${open}${toolCalls.map((call) => printable(`calls ${call.name}(${call.arguments})\n`, terminal)).join('')}`;
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
