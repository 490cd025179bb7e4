import type { Found, LintRule } from '../finding.ts';
import { isMap, under, type Visited } from '../walk.ts';

/** Guards of answers that most clients never meet, because they ask for streams. */
export const unguardedStream: LintRule = {
  code: 'GW_LINT_UNGUARDED_STREAM',
  severity: 'warning',
  summary: 'guards over answers of language models without `streaming: Enabled`: streamed answers pass unseen',
  check({ raw }) {
    const shared = [...under(raw, 'guardrails')].find(({ path }) => path[0] === 'llm' && path[1] === 'policies');
    const all = isMap(shared?.value) && shared.value['streaming'] === 'Enabled';
    const guards = [...under(raw, 'promptGuard'), ...under(raw, 'guardrails')];
    return guards.filter(({ path }) => !(all && path[0] === 'llm')).flatMap(unseen);
  },
};

function unseen({ path, value }: Visited): Found[] {
  if (!isMap(value) || value['streaming'] === 'Enabled') return [];
  const { response } = value;
  if (!Array.isArray(response) || response.length === 0) return [];
  return [
    {
      path: [...path, 'response'],
      atKey: true,
      message: 'these guards look at whole answers alone: a client that asks for a stream gets everything',
      hint: 'add `streaming: Enabled` beside them',
    },
  ];
}
