/** What a request asks for, whatever format it came in. */
export interface Asked {
  readonly model: string;
  /** Text of the last turn of the user. */
  readonly prompt: string;
  readonly streaming: boolean;
  readonly tools: readonly AskedTool[];
  /** What a tool that was called before has answered. */
  readonly toolResult: string | undefined;
}

export interface AskedTool {
  readonly name: string;
  /** Names of its parameters, with their types in JSON Schema's words. */
  readonly parameters: Readonly<Record<string, string>>;
}

export type Reply =
  | { readonly kind: 'fail'; readonly status: number; readonly message: string }
  /** `cut`: the connection breaks before the end. */
  | { readonly kind: 'say'; readonly text: string; readonly cut: boolean; readonly tokens: TokenCounts }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly tokens: TokenCounts;
    };

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
}

/** `fail`, `fail with 429`, `fail gpt-demo with 503`: the last one concerns that model alone. */
const FAIL = /\bfail\b(?: (\w+-demo))?(?: with (\d{3}))?/i;
const CUT = /\bbreak off\b/i;
const MAX_QUOTED = 160;

/** What a simulated model answers: always the same to the same question. */
export function replyTo(asked: Asked): Reply {
  const { prompt, model, tools, toolResult } = asked;
  const failing = FAIL.exec(prompt);
  if (failing !== null && (failing[1] === undefined || failing[1] === model)) {
    const status = Math.min(Math.max(Number(failing[2] ?? 500), 400), 599);
    return { kind: 'fail', status, message: `${model} fails, as it was asked to` };
  }
  const [tool] = tools;
  if (tool !== undefined && toolResult === undefined) {
    const args = argumentsFor(tool, prompt);
    return { kind: 'call', name: tool.name, args, tokens: counted(prompt, JSON.stringify(args)) };
  }
  const text = toolResult === undefined ? said(model, prompt) : `The tool says: ${quoted(toolResult)}.`;
  return { kind: 'say', text, cut: CUT.test(prompt), tokens: counted(prompt, text) };
}

/** In pieces as a model makes them: a word and the space before it. */
export function piecesOf(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function said(model: string, prompt: string): string {
  return [
    `This is ${model}, a simulated model. You asked: "${quoted(prompt)}".`,
    'I know nothing, but I say it in the format of my vendor, word by word.',
    'Ask me to "fail with 503", to "break off", or give me a tool.',
  ].join(' ');
}

function quoted(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
}

function argumentsFor({ parameters }: AskedTool, prompt: string): Record<string, unknown> {
  const last = prompt.match(/[\p{L}\p{N}-]+/gu)?.at(-1) ?? '';
  const values: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: true, array: [], object: {} };
  return Object.fromEntries(Object.entries(parameters).map(([name, type]) => [name, values[type] ?? last]));
}

/** Four letters are about a token. */
function counted(prompt: string, answer: string): TokenCounts {
  return { input: Math.ceil(prompt.length / 4) + 4, output: Math.ceil(answer.length / 4) };
}
