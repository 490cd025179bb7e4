import { clean } from '../terminal/text.ts';
import type { Style } from '../theme.ts';
import type { Paint } from './paint.ts';

/** What a linter found, in the shape that every side prints. */
export interface ShownFinding {
  readonly code: string;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly hint: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

const STYLES: Readonly<Record<ShownFinding['severity'], Style>> = { error: 'error', warning: 'warn', info: 'info' };

/** One block per finding: place, severity, code, the line itself, the way out. */
export function renderFindings(findings: readonly ShownFinding[], text: string, paint: Paint): string {
  const lines = text.split('\n');
  const blocks = findings.map((finding) => {
    const { file, line, column, severity, code, message, hint } = finding;
    const head = `${file}:${line}:${column}: ${paint(STYLES[severity], severity)} ${code}: ${clean(message)}`;
    const number = String(line).padStart(4);
    const shown = clean(lines[line - 1] ?? '').trimEnd();
    return `${head}\n${paint('dim', `${number} | ${shown}`)}\n     Try: ${clean(hint)}\n`;
  });
  return blocks.length === 0 ? '' : `${blocks.join('\n')}\n${summary(findings)}\n`;
}

function summary(findings: readonly ShownFinding[]): string {
  const counts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    const word = severity === 'info' ? 'info' : `${severity}${count === 1 ? '' : 's'}`;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.join(', ');
}
