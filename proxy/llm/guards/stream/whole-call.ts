import type { ContentScope } from '../../../../src/config/ir/llm.ts';
import { Blocked, type Stage } from '../contract.ts';

/** What is collected of the arguments of one call at most, characters. */
const MAX_CALL = 2 * 1024 * 1024;

/**
 * Arguments of a call mean nothing before they are whole, and are JSON: they wait for their end. Other texts are looked at
 * as they come.
 */
export function wholeCall(scope: ContentScope, stage: Stage): Stage {
  if (scope !== 'toolInput') return stage;
  let held = '';
  return {
    push(piece, final) {
      held += piece;
      if (held.length > MAX_CALL) throw new Blocked('the arguments of a call are too large to be looked at', 502);
      if (!final) return '';
      const whole = held;
      held = '';
      return whole === '' ? '' : stage.push(whole, true);
    },
  };
}
