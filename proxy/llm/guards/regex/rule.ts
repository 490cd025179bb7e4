import type { RegexRule } from '../../../../src/config/ir/llm.ts';
import { recognizers } from './builtins.ts';
import { candidateIn, phoneVerifier } from './phone.ts';
import { compileProgram, type Program } from './program.ts';
import type { Span } from './search.ts';

/** What one rule finds, and what takes its place. */
export interface Rule {
  readonly programs: readonly Program[];
  readonly mask: string;
  /** Looks again at what was found; null when it is none. */
  readonly confirm: ((text: string, span: Span) => Span | null) | null;
  /** Whether the rule can find something in a whole text. */
  mayFind(text: string): boolean;
}

/** Throws a `GwError` for what is no regular expression. */
export function compileRule(rule: RegexRule): Rule {
  if (rule.kind === 'pattern') return ruleOf([compileProgram(rule.pattern)], { mask: '<masked>' });
  const { mask, patterns, needs } = recognizers[rule.builtin];
  return ruleOf(patterns.map(compileProgram), {
    mask,
    needs,
    confirm: rule.builtin === 'phoneNumber' ? confirmPhone() : null,
  });
}

function ruleOf(
  programs: readonly Program[],
  { mask, needs, confirm = null }: { mask: string; needs?: string | undefined; confirm?: Rule['confirm'] },
): Rule {
  return {
    programs,
    mask,
    confirm,
    mayFind: (text) => (needs === undefined || text.includes(needs)) && programs.some(({ test }) => test(text)),
  };
}

function confirmPhone(): Rule['confirm'] {
  const verify = phoneVerifier();
  return (text, span) => {
    const candidate = candidateIn(text, span);
    return verify(text.slice(candidate.start - span.start)) ? candidate : null;
  };
}
