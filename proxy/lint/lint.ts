import type { Finding, LintSubject } from './finding.ts';
import { lintRules } from './rules.ts';

/** Everything that is legal and yet wrong, in the order of the file; each thing once. */
export function lint(subject: LintSubject): readonly Finding[] {
  const findings = new Map<string, Finding>();
  for (const rule of lintRules) {
    for (const { path, atKey, message, hint, severity = rule.severity } of rule.check(subject)) {
      const { file, line, column } = subject.placeOf(path, atKey);
      const finding = { code: rule.code, severity, message, hint, path: shownPath(path), file, line, column };
      findings.set(`${rule.code} ${line} ${column} ${message}`, finding);
    }
  }
  return [...findings.values()].sort((a, b) => a.line - b.line || a.column - b.column || a.code.localeCompare(b.code));
}

/** `routes[0].policies.jwtAuth` */
function shownPath(path: readonly (string | number)[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}
