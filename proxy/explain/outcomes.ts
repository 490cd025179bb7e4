import type { ExplainedPolicy, ExplainedRule } from '../../src/admin/protocol/explanation.ts';
import type { RuleOutcome, TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { policyName } from './policy-names.ts';

/** The scope of events about the connection. */
export const CONNECTION_SCOPE = 'connection';

type Message<T extends TraceMessage['type']> = Extract<TraceMessage, { readonly type: T }>;

/** What each policy said, in order, with the conditions and rules that it looked at. */
export function outcomesOf(events: readonly TraceEvent[]): readonly ExplainedPolicy[] {
  const reader = new OutcomeReader();
  return events.flatMap((event) => reader.read(event));
}

class OutcomeReader {
  /** Expressions that were evaluated since the last outcome. */
  #looked: Looked[] = [];
  #answered = false;

  read(event: TraceEvent): ExplainedPolicy[] {
    const { message, scope } = event;
    if (scope !== undefined && scope[0] !== CONNECTION_SCOPE) return [];
    if (message.type === 'backendCallStart') this.#answered = true;
    if (message.type === 'cel') this.#looked.push(lookedAt(message));
    const outcome = this.#outcome(event);
    if (outcome === null) return [];
    const rules = outcome.rules ?? this.#looked.map((each) => ruleOf(each, 'condition'));
    this.#looked = [];
    const on = scope !== undefined ? 'connection' : this.#answered ? 'response' : 'request';
    return [{ ...outcome, severity: event.severity, on, rules }];
  }

  #outcome({ message, severity, scope }: TraceEvent): Outcome | null {
    switch (message.type) {
      case 'policy':
        return policyOutcome(message, severity === 'error');
      case 'policyEvent':
        return eventOutcome(message);
      case 'authorizationResult':
        return this.#rules(message, scope !== undefined);
      default:
        return null;
    }
  }

  #rules({ rules, result }: Message<'authorizationResult'>, ofConnection: boolean): Outcome {
    const denied = result === 'deny';
    const decisive = decisiveRules(rules, denied);
    const explained = rules.map((rule): ExplainedRule => {
      const looked = this.#looked.find(({ expression }) => expression === rule.name);
      const { name, matched, mode, source } = rule;
      return {
        mode,
        expression: name,
        source: source ?? null,
        holds: matched,
        decisive: decisive.has(rule),
        parts: looked?.parts ?? [],
      };
    });
    const kind = policyName(ofConnection ? 'networkAuthorization' : 'authorization');
    const details = denied ? whyDenied(decisive) : whyAllowed(rules);
    return { kind, outcome: denied ? 'denied' : 'applied', details, rules: explained };
  }
}

interface Outcome extends Pick<ExplainedPolicy, 'kind' | 'outcome' | 'details'> {
  /** Left out: the conditions that were looked at before. */
  readonly rules?: readonly ExplainedRule[];
}

interface Looked {
  readonly expression: string;
  readonly holds: boolean;
  readonly parts: ExplainedRule['parts'];
}

/** Written by the expressions of a dry run. */
function lookedAt({ expr, result }: Message<'cel'>): Looked {
  // `as`: see `observedExpressions`; a failure of any other place has no value and no parts.
  const { value, parts = [] } = result as { value?: boolean; parts?: { text: string; values: readonly string[] }[] };
  return {
    expression: expr,
    holds: value === true,
    parts: parts.flatMap(({ text, values }) => values.map((each) => ({ expression: text, value: each }))),
  };
}

function ruleOf({ expression, holds, parts }: Looked, mode: string): ExplainedRule {
  return { mode, expression, source: null, holds, decisive: false, parts };
}

function policyOutcome({ kind, result }: Message<'policy'>, failed: boolean): Outcome {
  if (result.type === 'skip') return { kind, outcome: 'skipped', details: result.reason };
  return { kind, outcome: failed ? 'denied' : 'applied', details: result.details };
}

/** A choice between settings tells its conditions, which are known here. */
function eventOutcome({ kind, details }: Message<'policyEvent'>): Outcome | null {
  if (typeof details === 'string')
    return /^(condition of )?conditional\[\d+\]/.test(details) ? null : { kind, outcome: 'applied', details };
  const target = details['notAsked'];
  if (typeof target !== 'string') return null;
  return { kind, outcome: 'notAsked', details: `${target} would be asked; taken as allowed` };
}

/** The rules that refuse: a deny that holds, a require that does not, or else every allow. */
function decisiveRules(rules: readonly RuleOutcome[], denied: boolean): ReadonlySet<RuleOutcome> {
  if (!denied) return new Set();
  const first =
    rules.find(({ mode, matched }) => mode === 'deny' && matched) ??
    rules.find(({ mode, matched }) => mode === 'require' && !matched);
  return new Set(first === undefined ? rules.filter(({ mode }) => mode === 'allow') : [first]);
}

function whyDenied(decisive: ReadonlySet<RuleOutcome>): string {
  const [first] = decisive;
  if (first?.mode === 'deny') return `a deny rule holds${from(first)}`;
  if (first?.mode === 'require') return `a require rule does not hold${from(first)}`;
  return decisive.size === 1 && first !== undefined
    ? `the allow rule does not hold${from(first)}`
    : 'no allow rule holds';
}

function whyAllowed(rules: readonly RuleOutcome[]): string {
  const allow = rules.find(({ mode, matched }) => mode === 'allow' && matched);
  if (allow !== undefined) return `allow ${allow.name}${from(allow)}`;
  const told = [
    ...(rules.some(({ mode }) => mode === 'deny') ? ['no deny rule holds'] : []),
    ...(rules.some(({ mode }) => mode === 'require') ? ['every require rule holds'] : []),
  ];
  const sources = [...new Set(rules.flatMap(({ source }) => source ?? []))];
  return `${told.join(', ')}${sources.length === 0 ? '' : ` (from ${sources.join(', ')})`}`;
}

function from({ source }: RuleOutcome): string {
  return source === undefined ? '' : ` (from ${source})`;
}
