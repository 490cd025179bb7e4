import type { LoadedConfig } from '../../src/config/index.ts';
import type { Path } from './walk.ts';

export type LintSeverity = 'info' | 'warning' | 'error';

/** What a rule has found, still without its place in the text. */
export interface Found {
  /** Of the raw value. */
  readonly path: Path;
  /** Points at the key rather than at its value. */
  readonly atKey?: boolean | undefined;
  readonly message: string;
  /** The way out. */
  readonly hint: string;
  /** When it differs from the rule's own. */
  readonly severity?: LintSeverity | undefined;
}

export interface Finding {
  /** `GW_LINT_…`; never changes its meaning. */
  readonly code: string;
  readonly severity: LintSeverity;
  readonly message: string;
  readonly hint: string;
  readonly path: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export type LintSubject = Pick<LoadedConfig, 'config' | 'raw' | 'expressions' | 'placeOf' | 'warnings'>;

export interface LintRule {
  readonly code: string;
  readonly severity: LintSeverity;
  /** What it finds, one line. */
  readonly summary: string;
  check(subject: LintSubject): readonly Found[];
}
