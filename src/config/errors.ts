import { GwError, exitCodes } from '../shared/errors.ts';

/** What kind of problem it is; stable, for scripts. */
export type ConfigIssueCode =
  | 'GW_CONFIG_SYNTAX'
  | 'GW_CONFIG_VARIABLE'
  | 'GW_CONFIG_UNKNOWN_KEY'
  | 'GW_CONFIG_MISSING'
  | 'GW_CONFIG_VALUE'
  | 'GW_CONFIG_CONFLICT'
  | 'GW_CONFIG_REFERENCE'
  | 'GW_CONFIG_REMOVED'
  | 'GW_CONFIG_NOT_BUILT'
  | 'GW_CONFIG_FILE'
  | 'GW_CONFIG_TLS'
  | 'GW_CONFIG_ENVIRONMENT';

/** One problem of a configuration, with its place. */
export interface ConfigIssue {
  readonly code: ConfigIssueCode;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** `routes[0].backends[1].host`; empty for the file as a whole. */
  readonly path: string;
  /** Name of the source: a path, `<stdin>` or `<text>`. */
  readonly file: string;
  /** From 1. Absent when the problem has no place in the text (an environment variable, an unreadable file). */
  readonly line?: number | undefined;
  /** From 1, in characters. */
  readonly column?: number | undefined;
  /** Characters to underline, at least 1. */
  readonly length?: number | undefined;
  readonly hint?: string | undefined;
}

/** A configuration that cannot be used; `issues` holds every problem found, in the order of the file. */
export class ConfigError extends GwError {
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[], text: string) {
    const first = issues[0];
    super(renderIssues(issues, text), {
      code: issues.length === 1 && first !== undefined ? first.code : 'GW_CONFIG_INVALID',
      // The source itself, as opposed to a file that it names.
      ...(first?.code === 'GW_CONFIG_FILE' && first.path === '' && { exitCode: exitCodes.notFound }),
    });
    this.name = 'ConfigError';
    this.issues = issues;
  }
}

const MAX_SHOWN = 200;

/** Text for people: each problem with its place, the line of the source and a caret under it. */
export function renderIssues(issues: readonly ConfigIssue[], text: string): string {
  const lines = text.split(/\r\n|\n|\r/);
  const shown = issues.slice(0, MAX_SHOWN).map((issue) => renderIssue(issue, lines));
  if (issues.length > MAX_SHOWN) shown.push(`… and ${issues.length - MAX_SHOWN} more`);
  return shown.join('\n');
}

function renderIssue(issue: ConfigIssue, lines: readonly string[]): string {
  const place = issue.line === undefined ? issue.file : `${issue.file}:${issue.line}:${issue.column ?? 1}`;
  const path = issue.path === '' ? '' : `${issue.path}: `;
  const warning = issue.severity === 'warning' ? 'warning: ' : '';
  const output = [`${place}: ${warning}${path}${issue.message}`];
  const source = issue.line === undefined ? undefined : lines[issue.line - 1];
  if (source !== undefined && source !== '') output.push(...excerpt(source, issue));
  if (issue.hint !== undefined) output.push(`  hint: ${issue.hint}`);
  return output.join('\n');
}

const WIDTH = 100;

function excerpt(source: string, issue: ConfigIssue): string[] {
  const label = String(issue.line ?? '');
  const column = Math.min(Math.max(issue.column ?? 1, 1), source.length + 1);
  const start = column > WIDTH - 20 ? column - 40 : 0;
  const cut = printable(source.slice(start, start + WIDTH));
  const before = source.slice(start, column - 1).replaceAll(/[^\t]/gu, ' ');
  const carets = '^'.repeat(Math.max(1, Math.min(issue.length ?? 1, cut.length - (column - 1 - start))));
  return [`  ${label} | ${cut}`, `  ${' '.repeat(label.length)} | ${before}${carets}`];
}

/** Control characters could move the cursor of a terminal: they are shown as `·`. */
function printable(line: string): string {
  // oxlint-disable-next-line no-control-regex
  return line.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '·');
}
