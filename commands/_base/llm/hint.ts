import type { Question } from '../../../src/chat/formats/contract.ts';
import { questionRequest, type AskOptions } from '../../../src/chat/ask.ts';

const MAX_PROMPT = 80;

/** A command that sends the same question once more and shows what becomes of it. The key is for the person to put in. */
export function traceHint(
  question: Question,
  options: Pick<AskOptions, 'url' | 'format' | 'apiKey'>,
  target: { readonly address?: string | undefined },
): string {
  const { prompt } = question;
  const short = prompt.length > MAX_PROMPT ? `${prompt.slice(0, MAX_PROMPT)}…` : prompt;
  const { url, body } = questionRequest({ ...question, prompt: short }, { ...options, apiKey: undefined, headers: [] });
  const where = target.address === undefined ? '--local' : `--address ${target.address}`;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const key = options.apiKey === undefined ? '' : ` -H 'authorization: Bearer YOUR-KEY'`;
  return `gwctl trace ${where} --port ${port} --${key} --json ${quoted(body)} ${quoted(url.href)}`;
}

/** Without a target of its own the proxy of this machine is the likely one. */
export function modelsHint({ address }: { readonly address?: string | undefined }): string {
  return `gwctl proxy config models ${address === undefined ? '--local' : `--address ${address}`}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
