import type { ConfigError, ConfigStatus, ConfigDifference } from '../../src/admin/protocol/status.ts';
import type { ProcessConfig } from '../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { ReadConfig } from './config-provider.ts';

interface Rejected {
  readonly revision: string | null;
  readonly at: string;
  readonly errors: readonly ConfigError[];
  readonly diff: readonly ConfigDifference[];
}

/** Remembers what is live and what was rejected last. */
export class ConfigHistory {
  readonly #source: string;
  readonly #started: ProcessConfig;
  #live: { readonly read: ReadConfig; readonly since: string };
  #rejected: Rejected | null = null;

  constructor(source: string, first: ReadConfig) {
    this.#source = source;
    this.#started = first.config.process;
    this.#live = { read: first, since: new Date().toISOString() };
  }

  get live(): ReadConfig {
    return this.#live.read;
  }

  /** The live configuration is the newest one. */
  get synchronized(): boolean {
    return this.#rejected === null;
  }

  accept(read: ReadConfig): void {
    const same = read.revision === this.#live.read.revision;
    this.#live = { read, since: same ? this.#live.since : new Date().toISOString() };
    this.#rejected = null;
  }

  reject(revision: string | null, error: unknown, diff: readonly ConfigDifference[]): void {
    this.#rejected = { revision, at: new Date().toISOString(), errors: errorsOf(error), diff };
  }

  status(): ConfigStatus {
    const { read, since } = this.#live;
    const rejected = this.#rejected;
    return {
      live: { revision: read.revision, since, source: this.#source },
      rejected: rejected === null ? null : { revision: rejected.revision, at: rejected.at, errors: rejected.errors },
      diff: rejected?.diff ?? [],
      restartNeeded: changedKeys(this.#started, read.config.process, 'config'),
    };
  }
}

/** One entry per problem when the error lists several. */
function errorsOf(error: unknown): ConfigError[] {
  const issues = issuesOf(error);
  if (issues.length > 0) return issues;
  if (error instanceof GwError) return [{ message: error.message, code: error.code, hint: error.hint }];
  return [{ message: messageOf(error) }];
}

function issuesOf(error: unknown): ConfigError[] {
  if (typeof error !== 'object' || error === null || !('issues' in error) || !Array.isArray(error.issues)) return [];
  return error.issues.flatMap((issue: unknown) => {
    if (typeof issue !== 'object' || issue === null || !('message' in issue)) return [];
    const { message, code, hint, file, line, column, path } = {
      code: undefined,
      hint: undefined,
      file: '',
      line: undefined,
      column: 1,
      path: '',
      ...issue,
    };
    const place = line === undefined ? String(file) : `${String(file)}:${String(line)}:${String(column)}`;
    const text = [place, String(path), String(message)].filter((part) => part !== '').join(': ');
    return [
      {
        message: text,
        code: code === undefined ? undefined : String(code),
        hint: hint === undefined ? undefined : String(hint),
      },
    ];
  });
}

/** Where the file has what the model has elsewhere. */
const WRITTEN: Readonly<Record<string, string>> = {
  'config.mcpSessions.key': 'config.session.key',
  'config.mcpSessions.ttlMs': 'config.mcp.sessionTtl',
};

/** Paths of the values that differ, two levels deep. */
function changedKeys(before: unknown, after: unknown, path: string): string[] {
  if (comparable(before) === comparable(after)) return [];
  if (!isPlain(before) || !isPlain(after) || path.split('.').length > 2) return [WRITTEN[path] ?? path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changedKeys(before[key], after[key], `${path}.${key}`));
}

/** A text that is never shown: secrets stand in it. */
function comparable(value: unknown): string | undefined {
  return value instanceof Secret
    ? value.reveal()
    : JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, shown: unknown) {
        const own = this[key];
        return own instanceof Secret ? own.reveal() : shown;
      });
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
