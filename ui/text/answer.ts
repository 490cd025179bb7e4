import type { Answer } from '../../src/admin/inject/answer.ts';
import { REDACTED } from '../../src/shared/secret.ts';
import { formatBytes } from '../../src/shared/byte-size.ts';
import { formatDuration } from '../../src/shared/duration.ts';
import { clean } from '../terminal/text.ts';
import { isEventStream, messageIn } from '../../src/chat/recorded.ts';
import { inflate, utf8 } from '../trace/body.ts';
import { callLines, printable, usageText } from './chat.ts';
import { plainPaint, type Paint } from './paint.ts';

export interface AnswerTextOptions {
  readonly paint?: Paint | undefined;
  /** Header names whose values are not shown; a body is then left out too. */
  readonly redacted?: ((name: string) => boolean) | undefined;
}

/** What the client got: status line, headers, and as much of the body as is text and was kept. */
export function renderAnswer(answer: Answer, options: AnswerTextOptions = {}): string {
  const paint = options.paint ?? plainPaint;
  const header = ([name, value]: readonly [string, string]): string =>
    `${paint('key', clean(name))}: ${options.redacted?.(name) === true ? REDACTED : clean(value)}`;
  const lines = [
    statusLine(answer, paint),
    ...answer.headers.map(header),
    '',
    ...(options.redacted === undefined ? bodyLines(answer) : [`(${formatBytes(answer.bodyBytes)} of body, redacted)`]),
    ...answer.trailers.map(header),
    ...(answer.failure === undefined ? [] : [paint('error', clean(answer.failure))]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** `HTTP/1.1 200 OK, 1.2 KiB in 3.4ms`. */
export function answerSummary(answer: Answer): string {
  const status = [
    'HTTP/',
    answer.httpVersion,
    ' ',
    String(answer.status),
    answer.statusText === '' ? '' : ` ${answer.statusText}`,
  ].join('');
  return clean(`${status}, ${formatBytes(answer.bodyBytes)} in ${formatDuration(Math.round(answer.tookMs * 10) / 10)}`);
}

function statusLine(answer: Answer, paint: Paint): string {
  const style = answer.status >= 500 ? 'error' : answer.status >= 400 ? 'warn' : 'success';
  return paint(style, clean(`HTTP/${answer.httpVersion} ${answer.status} ${answer.statusText}`.trimEnd()));
}

function bodyLines({ body, bodyBytes }: Answer): readonly string[] {
  if (bodyBytes === 0) return [];
  const opened = inflate(body);
  const text = utf8(opened);
  const note = opened === body ? [] : [`(${formatBytes(bodyBytes)} of gzip, opened)`];
  const rest = bodyBytes > body.byteLength ? [`(${formatBytes(bodyBytes - body.byteLength)} more, not shown)`] : [];
  if (text === undefined) return [`(${formatBytes(bodyBytes)}, not text)`];
  const shown = messageText(text) ?? text;
  return [
    ...note,
    ...shown
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((line) => clean(line.replaceAll('\t', '  '))),
    ...rest,
  ];
}

/** The events of a language model's answer as the message that they bring; undefined for any other body. */
function messageText(text: string): string | undefined {
  const message = isEventStream(text) ? messageIn(text) : undefined;
  if (message === undefined) return undefined;
  const { model, finish, usage, error } = message;
  const facts = [model, usageText(usage), finish, error].filter(Boolean).join(', ');
  const said = message.text === '' ? '' : `${printable(message.text, true)}\n`;
  return `(events put together: ${facts})\n${said}${callLines(message.toolCalls, true)}`;
}
