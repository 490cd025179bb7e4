import type { A2aFacts } from '../exchange/a2a-facts.ts';
import type { AccessField, FieldValue } from './access-fields.ts';

/** Of calls of agents, in the order of the line. */
export const AGENT_FIELDS: readonly AccessField[] = [
  of('a2a.method', ({ method }) => method),
  of('a2a.response.outcome', ({ outcome }) => outcome),
  of('a2a.response.error_code', ({ errorCode }) => errorCode),
  of('a2a.result.kind', ({ resultKind }) => resultKind),
  of('a2a.task.state', ({ taskState }) => taskState),
  of('a2a.context.id', ({ contextId }) => contextId),
];

function of(key: string, read: (facts: A2aFacts) => FieldValue): AccessField {
  return [key, ({ a2a }) => (a2a === undefined ? undefined : read(a2a))];
}
