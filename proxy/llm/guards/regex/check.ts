import type { ContentScope, Guard, Rejection } from '../../../../src/config/ir/llm.ts';
import type { Check, Stage, StreamWatch, Subject, Verdict } from '../contract.ts';
import { Blocked } from '../contract.ts';
import { wholeCall } from '../stream/whole-call.ts';
import { jsonMask } from './json-mask.ts';
import { Masking, maskWhole } from './masking.ts';
import { compileRule, type Rule } from './rule.ts';

type RegexGuard = Extract<Guard, { kind: 'regex' }>;

interface NamedRule {
  readonly rule: Rule;
  /** For traces. */
  readonly name: string;
}

const PASS: Verdict = { kind: 'pass' };

/** A guard by patterns. Throws a `GwError` for what is no regular expression. */
export function regexCheck(guard: RegexGuard, rejection: Rejection, scope: readonly ContentScope[]): Check {
  const rules = guard.rules.map((rule, index) => ({
    rule: compileRule(rule),
    name: rule.kind === 'builtin' ? rule.builtin : `pattern ${index + 1}`,
  }));
  const scopes = new Set(scope);
  const rejects = guard.action === 'reject';
  return {
    kind: 'regex',
    rejection,
    failOpen: false,
    failOpenOnStreams: false,
    scopes,
    audit: false,
    judge: (subject) => (rejects ? findIn(subject, rules, scopes) : maskIn(subject, rules, scopes)),
    stage(watch, of) {
      const options = { rules, rejects, rejection, watch };
      return of === 'toolInput' ? wholeCall(of, new CallStage(options)) : new RegexStage(options);
    },
  };
}

function findIn({ format, body, phase }: Subject, rules: readonly NamedRule[], scopes: Scopes): Verdict {
  let hit: string | null = null;
  const look = (text: string): string => {
    hit ??= rules.find(({ rule }) => maskWhole(rule, text) !== null)?.name ?? null;
    return text;
  };
  const visit = (text: string, scope: ContentScope): string => {
    if (hit !== null || !scopes.has(scope)) return text;
    return scope === 'toolInput' ? jsonMask(text, look) : look(text);
  };
  if (phase === 'request') format.mapRequest(body, visit);
  else format.mapResponse(body, visit);
  return hit === null ? PASS : { kind: 'reject', what: hit };
}

type Scopes = ReadonlySet<ContentScope>;

function maskIn({ format, body, phase }: Subject, rules: readonly NamedRule[], scopes: Scopes): Verdict {
  const found = new Set<string>();
  const mask = (text: string): string => maskAll(rules, text, found);
  const visit = (text: string, scope: ContentScope): string => {
    if (!scopes.has(scope)) return text;
    return scope === 'toolInput' ? jsonMask(text, mask) : mask(text);
  };
  const masked = phase === 'request' ? format.mapRequest(body, visit) : format.mapResponse(body, visit);
  return found.size === 0 ? PASS : { kind: 'mask', body: masked, what: [...found].join(', ') };
}

/** One rule after the other; `found` gets the names of those that found something. */
function maskAll(rules: readonly NamedRule[], text: string, found: Set<string>): string {
  let masked = text;
  for (const { rule, name } of rules) {
    const next = maskWhole(rule, masked);
    if (next === null) continue;
    found.add(name);
    masked = next;
  }
  return masked;
}

interface StageOptions {
  readonly rules: readonly NamedRule[];
  readonly rejects: boolean;
  readonly rejection: Rejection;
  readonly watch: StreamWatch;
}

/** The arguments of a call, whole: they stay JSON. */
class CallStage implements Stage {
  readonly #options: StageOptions;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  push(text: string): string {
    const { rules, rejects, rejection, watch } = this.#options;
    const found = new Set<string>();
    const masked = jsonMask(text, (each) => maskAll(rules, each, found));
    const what = [...found].join(', ');
    if (found.size > 0 && rejects) {
      watch.report('Reject', what);
      throw new Blocked(rejection.body, rejection.status);
    }
    watch.report(found.size > 0 ? 'Mask' : 'Allow', what);
    return masked;
  }
}

class RegexStage implements Stage {
  readonly #steps: readonly { readonly masking: Masking; readonly name: string }[];
  readonly #options: StageOptions;
  readonly #reported = new Set<string>();
  #over = false;

  constructor(options: StageOptions) {
    this.#options = options;
    this.#steps = options.rules.map(({ rule, name }) => ({ masking: new Masking(rule), name }));
  }

  push(piece: string, final: boolean): string {
    const { rejects, rejection, watch } = this.#options;
    let text = piece;
    for (const { masking, name } of this.#steps) {
      text = masking.push(text, final);
      if (!masking.found || this.#reported.has(name)) continue;
      this.#reported.add(name);
      if (rejects) {
        watch.report('Reject', name);
        throw new Blocked(rejection.body, rejection.status);
      }
    }
    if (final && !this.#over) {
      this.#over = true;
      watch.report(this.#reported.size > 0 ? 'Mask' : 'Allow', [...this.#reported].join(', '));
    }
    return text;
  }
}
