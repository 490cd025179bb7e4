import type {
  ExplainedPolicy,
  ExplainedRule,
  ExplainQuestion,
  Explanation,
} from '../../src/admin/protocol/explanation.ts';
import { clean } from '../terminal/text.ts';
import type { Paint } from './paint.ts';
import { paragraph } from './paragraph.ts';

const SIGNS: Readonly<Record<ExplainedPolicy['outcome'], string>> = {
  applied: '+',
  skipped: '-',
  denied: 'x',
  notAsked: '?',
};

/** The longest are those of header modifiers. */
const NAME_WIDTH = 24;
/** Where the details of policies begin. */
const DETAILS_AT = 4 + NAME_WIDTH + 1;
/** Rules and values that are shown of one policy. */
const MAX_RULES = 5;
const MAX_PARTS = 12;
/** Routes that lost, likewise. */
const MAX_LOST = 25;

export interface ExplanationTextOptions {
  /** Columns of the terminal; without it nothing is broken. */
  readonly width?: number | undefined;
  readonly paint: Paint;
}

/** What would happen to a request, from the listener to the answer. */
export function renderExplanation(
  question: ExplainQuestion,
  explanation: Explanation,
  { width, paint }: ExplanationTextOptions,
): string {
  const drawing = new Drawing(width, paint);
  const { method, scheme, authority, target } = question;
  const policies = (on: ExplainedPolicy['on']): readonly string[] =>
    explanation.policies
      .filter((policy) => (policy.on ?? 'request') === on)
      .flatMap((policy) => drawing.policy(policy));
  return [
    `${paint('bold', drawing.line(`${method} ${scheme}://${authority}${clean(target)}`, 2))}\n`,
    ...placeLines(explanation).map(([name, value]) => `${drawing.line(`  ${name.padEnd(9)} ${value}`, 12)}\n`),
    ...drawing.section('connection', policies('connection')),
    ...drawing.section('policies', policies('request')),
    ...drawing.section('on the answer, as on an empty 200', policies('response')),
    ...drawing.section(
      'routes that lost',
      lostRoutes(explanation.rejectedRoutes).map((line) => drawing.line(line, 4)),
    ),
    `\n${answerLine(explanation, drawing)}\n`,
  ].join('');
}

class Drawing {
  readonly #width: number | undefined;
  readonly paint: Paint;

  constructor(width: number | undefined, paint: Paint) {
    this.#width = width;
    this.paint = paint;
  }

  line(text: string, indent: number): string {
    return paragraph(text, this.#width, indent);
  }

  section(title: string, lines: readonly string[]): readonly string[] {
    return lines.length === 0 ? [] : [`\n${this.paint('bold', title)}\n`, ...lines.map((line) => `${line}\n`)];
  }

  policy({ kind, outcome, details, rules = [] }: ExplainedPolicy): readonly string[] {
    const said = outcome === 'denied' && details.startsWith('refused');
    const word = said || outcome === 'applied' || outcome === 'notAsked' ? '' : `${outcome}: `;
    const text = this.line(`  ${SIGNS[outcome]} ${kind.padEnd(NAME_WIDTH)} ${word}${clean(details)}`, DETAILS_AT);
    return [
      outcome === 'denied' ? this.paint('error', text.slice(0, 3)) + text.slice(3) : text,
      ...this.#rules(rules.filter((rule) => concerns(rule, outcome))),
    ];
  }

  #rules(rules: readonly ExplainedRule[]): readonly string[] {
    const shown = rules.slice(0, MAX_RULES).flatMap((rule) => this.#rule(rule));
    return rules.length > MAX_RULES ? [...shown, `      … and ${rules.length - MAX_RULES} more`] : shown;
  }

  #rule({ mode, expression, holds, parts }: ExplainedRule): readonly string[] {
    const head = this.line(`      ${mode} ${oneLine(expression)} is ${holds ? 'true' : 'false'}`, 8);
    const values = parts
      .filter((part, at) => parts.findIndex((each) => each.expression === part.expression) === at)
      // Of a failure that goes up through the parts, the innermost says where it began.
      .filter((part, at, all) => part.expression !== expression || failsHere(part.value, all[at + 1]?.value))
      .filter((part, at, all) => !part.value.startsWith('fails') || failsHere(part.value, all[at + 1]?.value))
      .slice(0, MAX_PARTS)
      .map((part) => this.line(`        ${oneLine(part.expression)} ${valueText(part.value)}`, 10));
    return [head, ...values];
  }
}

function failsHere(value: string, inner: string | undefined): boolean {
  return value.startsWith('fails') && value !== inner;
}

/** A refusal is explained by the rules that refuse; conditions are worth a line wherever they decide. */
function concerns({ mode, decisive }: ExplainedRule, outcome: ExplainedPolicy['outcome']): boolean {
  return mode === 'condition' || (outcome === 'denied' && decisive);
}

function valueText(value: string): string {
  return clean(value.startsWith('fails') ? value : `is ${value}`);
}

function oneLine(expression: string): string {
  return clean(expression.replaceAll(/\s*\n\s*/g, ' '));
}

function placeLines({ bind, gateway, listener, route, backend, events }: Explanation): (readonly [string, string])[] {
  const where = listener === null ? `none on ${bind ?? 'any port'}` : `${listener} of ${gateway ?? ''} (${bind ?? ''})`;
  const chosen = events.some(({ message }) => message.type === 'routeSelection');
  const lines = [['listener', where] as const, ['route', route ?? (chosen ? 'none' : 'not chosen any more')] as const];
  if (route === null) return lines;
  return [...lines, ['backend', backend === null ? 'none' : backendText(backend)]];
}

function backendText({ name, endpoint, candidates }: NonNullable<Explanation['backend']>): string {
  if (candidates.length > 1) {
    const shares = candidates.map((each) => `${shownName(each.name)} ${Math.round(each.share * 1000) / 10}%`);
    return `one of ${shares.join(', ')}`;
  }
  const shown = shownName(name === '' ? (candidates[0]?.name ?? '') : name);
  return endpoint === null || endpoint === shown ? shown : `${shown} at ${endpoint}`;
}

/** Keys of named backends begin with the slash that would stand behind a namespace. */
function shownName(name: string): string {
  return clean(name.replace(/^\//, ''));
}

function lostRoutes(routes: Explanation['rejectedRoutes']): readonly string[] {
  const lines = routes.slice(0, MAX_LOST).map(rejectedLine);
  return routes.length > MAX_LOST ? [...lines, `  … and ${routes.length - MAX_LOST} more, all in -o json`] : lines;
}

function rejectedLine({ route, failed, expected, actual }: Explanation['rejectedRoutes'][number]): string {
  const found = actual === null ? 'absent' : clean(actual);
  return `  ${clean(route)}: ${failed} ${clean(expected)}, but is ${found}`;
}

function answerLine({ answer, backend }: Explanation, drawing: Drawing): string {
  const { paint } = drawing;
  if (answer.by === 'backend') {
    const drawn = (backend?.candidates.length ?? 0) > 1;
    const to = clean(backend?.endpoint ?? backend?.name ?? 'the backend');
    return paint('success', drawn ? `forwarded to one of the backends, as if drawn: ${to}` : `forwarded to ${to}`);
  }
  const who = answer.by === 'policy' ? 'a policy' : 'the gateway';
  const why = [answer.reason, answer.message === null ? null : clean(answer.message)].filter((part) => part !== null);
  const status = answer.status === null ? 'nothing' : String(answer.status);
  const location = answer.headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  const to = location === undefined ? '' : `, location ${clean(location)}`;
  const text = drawing.line(`${status} from ${who}${why.length === 0 ? '' : ` (${why.join(': ')})`}${to}`, 2);
  return answer.by === 'gateway' ? paint('error', text) : text;
}
