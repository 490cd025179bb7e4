import type { RegexRule } from '../../../../src/config/ir/llm.ts';

export type Builtin = Extract<RegexRule, { kind: 'builtin' }>['builtin'];

/** Well-known personal data: patterns without a check of sums, so that a number that only looks like one is found too. */
export interface Recognizer {
  readonly mask: string;
  /** What any of them finds; overlapping finds are one. */
  readonly patterns: readonly string[];
  /** What every text that has some contains; undefined where there is no such character. */
  readonly needs?: string;
}

const CARD_GROUPS = '[ -]?\\d{3,4}[ -]?\\d{3,4}[ -]?';

/** One line for each built-in pattern. Phone numbers are candidates that are looked at again. */
export const recognizers: Readonly<Record<Builtin, Recognizer>> = {
  ssn: {
    mask: '<SSN>',
    patterns: [
      '\\b\\d{5}-\\d{4}\\b',
      '\\b\\d{3}-\\d{6}\\b',
      '\\b\\d{3}-\\d{2}-\\d{4}\\b',
      '\\b\\d{9}\\b',
      '\\b\\d{3}[- .]\\d{2}[- .]\\d{4}\\b',
    ],
  },
  creditCard: {
    mask: '<CREDIT_CARD>',
    patterns: ['4\\d{3}', '5[0-5]\\d{2}', '6\\d{3}', '3\\d{3}']
      .map((first) => `\\b${first}${CARD_GROUPS}\\d{3,5}\\b`)
      .concat(`\\b1\\d{3}${CARD_GROUPS}\\d{4,5}\\b`),
  },
  phoneNumber: { mask: '<PHONE_NUMBER>', patterns: ['(^|[^0-9])([+()]?[0-9][0-9\\s().\\-]{6,30})'] },
  email: { mask: '<EMAIL_ADDRESS>', patterns: ['[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+\\.[a-zA-Z0-9-.]+'], needs: '@' },
  caSin: { mask: '<CA_SIN>', patterns: ['\\b\\d{3}[- ]\\d{3}[- ]\\d{3}\\b', '\\b\\d{9}\\b'] },
};
