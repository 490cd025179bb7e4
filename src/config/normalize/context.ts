import type { ConfigIssueCode } from '../errors.ts';
import type { FileStore } from '../load/files.ts';
import type { Path, Problem } from '../load/problem.ts';
import type { Names } from './names.ts';

/** Settings of the machine and the process that the file does not hold. */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Processors that this process may use. */
  readonly cpus: number;
  readonly now: Date;
}

/** What normalizing carries along: the names it may refer to, the files it may read, the problems it finds. */
export class Context {
  readonly problems: Problem[] = [];
  readonly names: Names;
  readonly files: FileStore;
  readonly host: Host;
  /** Whether parts of the file are missing because they are broken; conclusions from their absence are not drawn then. */
  readonly partial: boolean;

  constructor(options: {
    readonly names: Names;
    readonly files: FileStore;
    readonly host: Host;
    readonly partial: boolean;
  }) {
    this.names = options.names;
    this.files = options.files;
    this.host = options.host;
    this.partial = options.partial;
  }

  report(
    path: Path,
    code: ConfigIssueCode,
    message: string,
    more: { hint?: string | undefined; atKey?: boolean; severity?: 'error' | 'warning' } = {},
  ): void {
    this.problems.push({ path, code, message, ...more });
  }
}
