import type { ExplainedPolicy, ExplainQuestion, Explanation } from '../../src/admin/protocol/explanation.ts';
import { clean } from '../terminal/text.ts';
import type { Paint } from './paint.ts';

const SIGNS: Readonly<Record<ExplainedPolicy['outcome'], string>> = {
  applied: '+',
  skipped: '-',
  denied: 'x',
  notAsked: '?',
};

/** What would happen to a request, from the listener to the answer. */
export function renderExplanation(question: ExplainQuestion, explanation: Explanation, paint: Paint): string {
  return [
    `${paint('bold', `${question.method} ${question.scheme}://${question.authority}${clean(question.target)}`)}\n`,
    ...placeLines(explanation),
    ...section(
      'policies',
      explanation.policies.map((policy) => policyLine(policy, paint)),
      paint,
    ),
    ...section('routes that lost', explanation.rejectedRoutes.map(rejectedLine), paint),
    `\n${answerLine(explanation, paint)}\n`,
  ].join('');
}

function placeLines({ bind, gateway, listener, route, backend }: Explanation): string[] {
  const lines = [
    row(
      'listener',
      listener === null ? `none on ${bind ?? 'any port'}` : `${listener} of ${gateway ?? ''} (${bind ?? ''})`,
    ),
    row('route', route ?? 'none'),
  ];
  if (route === null) return lines;
  return [...lines, row('backend', backend === null ? 'none' : backendText(backend))];
}

function backendText({ name, endpoint, candidates }: NonNullable<Explanation['backend']>): string {
  if (candidates.length > 1) {
    const shares = candidates.map((each) => `${clean(each.name)} ${Math.round(each.share * 1000) / 10}%`);
    return `one of ${shares.join(', ')}`;
  }
  const shown = clean(name === '' ? (candidates[0]?.name ?? '') : name);
  return endpoint === null || endpoint === shown ? shown : `${shown} at ${endpoint}`;
}

function row(name: string, value: string): string {
  return `  ${name.padEnd(9)} ${value}\n`;
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : [`\n${paint('bold', title)}\n`, ...lines];
}

function policyLine({ kind, outcome, details }: ExplainedPolicy, paint: Paint): string {
  const sign = outcome === 'denied' ? paint('error', SIGNS[outcome]) : SIGNS[outcome];
  const word = outcome === 'applied' ? '' : `${outcome === 'notAsked' ? 'not asked' : outcome}: `;
  return `  ${sign} ${kind.padEnd(22)} ${word}${clean(details)}\n`;
}

function rejectedLine({ route, failed, expected, actual }: Explanation['rejectedRoutes'][number]): string {
  const found = actual === null ? 'absent' : clean(actual);
  return `  ${clean(route)}: ${failed} ${clean(expected)}, but is ${found}\n`;
}

function answerLine({ answer, backend }: Explanation, paint: Paint): string {
  if (answer.by === 'backend')
    return paint('success', `forwarded to ${clean(backend?.endpoint ?? backend?.name ?? 'the backend')}`);
  const who = answer.by === 'policy' ? 'a policy' : 'the gateway';
  const why = [answer.reason, answer.message === null ? null : clean(answer.message)].filter((part) => part !== null);
  const text = `${answer.status ?? ''} from ${who}${why.length === 0 ? '' : ` (${why.join(': ')})`}`;
  return answer.by === 'gateway' ? paint('error', text) : text;
}
