import type { Question } from '../../../src/chat/formats/contract.ts';
import type { TargetChoice } from '../target.ts';
import { questionRequest, type QuestionPlace } from '../../../src/chat/question.ts';

const MAX_PROMPT = 80;
/** Stands for the key, which is nobody's business. */
const KEY = 'YOUR-KEY';

/** Flags of the target, as they were given. */
export type HintTarget = Pick<TargetChoice, 'address' | 'admin-port'>;

/** A command that sends the same question once more and shows what becomes of it. The key is for the person to put in. */
export function traceHint(question: Question, options: Omit<QuestionPlace, 'headers'>, target: HintTarget): string {
  const { prompt } = question;
  const short = prompt.length > MAX_PROMPT ? `${prompt.slice(0, MAX_PROMPT)}…` : prompt;
  const apiKey = options.apiKey === undefined ? undefined : KEY;
  const { url, headers, body } = questionRequest({ ...question, prompt: short }, { ...options, apiKey, headers: [] });
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const keys = headers.filter(([, value]) => value.includes(KEY));
  const key = keys.map(([name, value]) => ` -H ${quoted(`${name}: ${value}`)}`).join('');
  return `gwctl trace ${targetFlags(target)} --port ${port} --${key} --json ${quoted(body)} ${quoted(url.href)}`;
}

/** Without a target of its own the proxy of this machine is the likely one. */
export function modelsHint(target: HintTarget): string {
  return `gwctl proxy config models ${targetFlags(target)}`;
}

function targetFlags({ address, 'admin-port': port }: HintTarget): string {
  const where = address === undefined ? '--local' : `--address ${address}`;
  return port === undefined ? where : `${where} -p ${port}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
