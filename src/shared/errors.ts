/** What an error means to a script that runs gwctl; the numbers are listed by `gwctl help exit-codes`. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  unreachable: 4,
  refused: 5,
  findings: 6,
  timeout: 124,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface GwErrorOptions {
  /** Stable identifier, `GW_` and upper-case words. */
  readonly code: string;
  /** A command or an edit that gets the user further; shown after `Try this:`. */
  readonly hint?: string | undefined;
  /** Lines that show people the place of it, such as an excerpt with a caret. */
  readonly detail?: string | undefined;
  readonly exitCode?: ExitCode | undefined;
  readonly cause?: unknown;
}

/** The base of every error a person may read: what happened, a stable code, the way out and the exit code. */
export class GwError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly detail: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, options: GwErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GwError';
    this.code = options.code;
    this.hint = options.hint;
    this.detail = options.detail;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}

/** The text of anything thrown, without its stack. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '' && thrown.errors.length > 0) {
    return thrown.errors.map(messageOf).join('; ');
  }
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's code of a failed call (`ECONNREFUSED`, `EADDRINUSE`, …), when there is one. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string') {
    return thrown.code;
  }
  return undefined;
}
