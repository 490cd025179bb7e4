import { hasExpectations, type Expectations } from '../../../src/admin/views/expectations.ts';
import { chooseTarget, type Target, type TargetChoice } from '../target.ts';
import { usageError } from '../usage-error.ts';

/** The flags of `proxy trace` as they were parsed. */
export interface TraceFlags extends TargetChoice {
  readonly port?: number | undefined;
  readonly expression?: string | undefined;
  readonly follow: boolean;
  readonly count?: number | undefined;
  readonly raw: boolean;
  readonly redact: boolean;
  readonly output?: 'text' | 'jsonl' | undefined;
  readonly 'expect-status'?: string | undefined;
  readonly 'expect-route'?: string | undefined;
  readonly 'expect-backend'?: string | undefined;
  readonly 'expect-policy'?: string[] | undefined;
  readonly 'expect-max-duration'?: number | undefined;
}

export interface TracePlan {
  readonly target: Target;
  readonly choice: TargetChoice;
  readonly format: 'text' | 'jsonl' | 'screen';
  /** Words behind `--`; empty when the command only watches. */
  readonly request: readonly string[];
  readonly port: number | undefined;
  readonly expression: string | undefined;
  /** Requests after which the command ends; undefined for no end. */
  readonly count: number | undefined;
  readonly redact: boolean;
  readonly expected: Expectations;
  readonly timeoutMs: number | undefined;
}

/** Checks the flags against each other, before anything is contacted. */
export function planTrace(flags: TraceFlags, request: readonly string[], terminal: boolean): TracePlan {
  const target = chooseTarget(flags);
  if (target.kind === 'file') refuseWithFile(flags, request);
  const port = flags.port ?? portOfUrl(request);
  if (request.length > 0 && port === undefined) {
    throw usageError(
      'a request needs --port, the listener it goes to, when its URL names no port',
      `gwctl proxy trace --port 8080 -- ${request.join(' ')}`,
    );
  }
  if (flags.port !== undefined && request.length === 0) {
    throw usageError(
      '--port needs a request behind --',
      `gwctl proxy trace --port ${flags.port} -- http://localhost:${flags.port}/`,
    );
  }
  if (request.length > 0 && (flags.follow || flags.count !== undefined)) {
    throw usageError('--follow and --count are for watching; a sent request is one request');
  }
  if (flags.raw && flags.output === 'text') throw usageError('--raw is -o jsonl: it does not go with -o text');
  if (
    flags['expect-status'] !== undefined &&
    !/^[1-5x][0-9x]{2}(\s*,\s*[1-5x][0-9x]{2})*$/i.test(flags['expect-status'])
  ) {
    throw usageError(`--expect-status takes a status such as 200, 2xx or 200,204, not "${flags['expect-status']}"`);
  }
  const expected = expectationsOf(flags);
  return {
    target,
    choice: flags,
    format: formatOf(flags, terminal && !hasExpectations(expected)),
    request,
    port,
    expression: flags.expression,
    count: flags.count ?? (flags.follow || target.kind === 'file' ? undefined : 1),
    redact: flags.redact,
    expected,
    timeoutMs: flags.timeout,
  };
}

/** The port that the first URL among the request's words names; without one nobody can tell which listener is meant. */
function portOfUrl(request: readonly string[]): number | undefined {
  const url = request.find((word) => /^https?:\/\//i.test(word) && URL.canParse(word));
  const port = url === undefined ? undefined : /^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(url)?.[1];
  return port === undefined ? undefined : Number(port);
}

function refuseWithFile(flags: TraceFlags, request: readonly string[]): void {
  if (flags.expression !== undefined) throw usageError('--expression does not go with --file');
  if (flags.follow) throw usageError('--follow does not go with --file');
  if (request.length > 0 || flags.port !== undefined) throw usageError('a request cannot be sent with --file');
}

/** A screen needs a terminal on both sides and nobody who asked for text. */
function formatOf(flags: TraceFlags, screen: boolean): TracePlan['format'] {
  if (flags.raw || flags.output === 'jsonl') return 'jsonl';
  return screen && flags.output === undefined && !flags.redact && flags.count === undefined ? 'screen' : 'text';
}

function expectationsOf(flags: TraceFlags): Expectations {
  return {
    status: flags['expect-status'],
    route: flags['expect-route'],
    backend: flags['expect-backend'],
    policies: flags['expect-policy'],
    maxDurationMs: flags['expect-max-duration'],
  };
}
