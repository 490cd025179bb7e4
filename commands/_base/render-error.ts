import { GwError, exitCodes, messageOf, type ExitCode } from '../../src/shared/errors.ts';
import { clean } from '../../ui/terminal/text.ts';
import type { Paint } from '../../ui/text/paint.ts';

interface ErrorFacts {
  readonly message: string;
  readonly code: string;
  readonly causes: readonly string[];
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;
}

/** The exit code that a thrown value stands for. */
export function exitCodeOf(thrown: unknown): ExitCode {
  return thrown instanceof GwError ? thrown.exitCode : exitCodes.failed;
}

/** What a person reads on stderr. */
export function renderError(thrown: unknown, options: { readonly verbose: boolean; readonly paint: Paint }): string {
  const facts = factsOf(thrown);
  const { paint } = options;
  const lines = [
    `${paint('error', 'Error:')} ${multiline(facts.message)}`,
    ...(thrown instanceof GwError && thrown.detail !== undefined ? ['', multiline(thrown.detail), ''] : []),
    ...facts.causes.map((cause) => `  cause: ${multiline(cause)}`),
    ...(facts.hint === undefined ? [] : [`Try this: ${multiline(facts.hint)}`]),
    `Code: ${facts.code}`,
    ...(options.verbose && thrown instanceof Error && thrown.stack !== undefined
      ? [paint('dim', multiline(thrown.stack))]
      : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The same facts for programs; printed on stderr, where stdout holds the answer alone. */
export function renderErrorJson(thrown: unknown): string {
  const { message, code, causes, hint, exitCode } = factsOf(thrown);
  return `${JSON.stringify({ error: { code, message, causes, hint: hint ?? null, exitCode } }, null, 2)}\n`;
}

function factsOf(thrown: unknown): ErrorFacts {
  if (thrown instanceof GwError) {
    const { message, code, hint, exitCode } = thrown;
    return { message, code, hint, exitCode, causes: causesOf(thrown) };
  }
  return {
    message: `unexpected: ${messageOf(thrown)}`,
    code: 'GW_INTERNAL',
    hint: 'the same command with -v shows where',
    exitCode: exitCodes.failed,
    causes: causesOf(thrown),
  };
}

/** Messages of the chain below an error, those left out that say nothing new. */
function causesOf(thrown: unknown): readonly string[] {
  const causes: string[] = [];
  let said = messageOf(thrown);
  let cause = thrown instanceof Error ? thrown.cause : undefined;
  while (cause !== undefined && cause !== null && causes.length < 8) {
    const text = messageOf(cause).trim();
    if (text !== '' && !said.includes(text)) causes.push(text);
    said += text;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

/** Text from elsewhere must not steer the terminal, but may have several lines. */
function multiline(text: string): string {
  return text.split('\n').map(clean).join('\n');
}
