import { asArray, asObject, asText, type JsonObject } from '../../admin/protocol/lenient.ts';
import type { Step, Task } from './story.ts';

/** How one version of A2A writes things down. */
export interface Wording {
  readonly message: (text: string, of: Ids) => JsonObject;
  readonly task: (task: Task) => JsonObject;
  readonly update: (step: Step, of: Ids, last: boolean) => JsonObject;
  /** As the result of a call, or of one event. */
  readonly named: (kind: 'message' | 'task', value: JsonObject) => JsonObject;
}

export interface Ids {
  readonly id: string;
  readonly contextId: string;
}

/** Version 1: the kind of a result is the name of its field. */
export const current: Wording = {
  message: (text, { contextId }) => ({
    messageId: crypto.randomUUID(),
    contextId,
    role: 'ROLE_AGENT',
    parts: [{ text }],
  }),
  task: (task) => ({
    id: task.id,
    contextId: task.contextId,
    status: statusOf(current, stateWord(task.state), { text: task.said, of: task }),
    ...(task.result === undefined ? {} : { artifacts: [{ ...PLAN, parts: [{ text: task.result }] }] }),
  }),
  update: (step, { id: taskId, contextId }) =>
    step.kind === 'result'
      ? { artifactUpdate: { taskId, contextId, artifact: { ...PLAN, parts: [{ text: step.text }] }, lastChunk: true } }
      : { statusUpdate: { taskId, contextId, status: statusFor(current, step, { taskId, contextId }) } },
  named: (kind, value) => ({ [kind]: value }),
};

/** Version 0.3: everything says what it is in `kind`. */
export const older: Wording = {
  message: (text, { contextId }) => ({
    kind: 'message',
    messageId: crypto.randomUUID(),
    contextId,
    role: 'agent',
    parts: [{ kind: 'text', text }],
  }),
  task: (task) => ({
    kind: 'task',
    id: task.id,
    contextId: task.contextId,
    status: statusOf(older, task.state, { text: task.said, of: task }),
    ...(task.result === undefined ? {} : { artifacts: [{ ...PLAN, parts: [{ kind: 'text', text: task.result }] }] }),
  }),
  update: (step, { id: taskId, contextId }, last) =>
    step.kind === 'result'
      ? {
          kind: 'artifact-update',
          taskId,
          contextId,
          artifact: { ...PLAN, parts: [{ kind: 'text', text: step.text }] },
          lastChunk: true,
        }
      : {
          kind: 'status-update',
          taskId,
          contextId,
          status: statusFor(older, step, { taskId, contextId }),
          final: last,
        },
  named: (_kind, value) => value,
};

const PLAN = { artifactId: 'plan', name: 'plan' };

function statusFor(
  wording: Wording,
  { state, text }: Extract<Step, { kind: 'state' }>,
  { taskId, contextId }: { readonly taskId: string; readonly contextId: string },
): JsonObject {
  const word = wording === current ? stateWord(state) : state;
  return statusOf(wording, word, { text, of: { id: taskId, contextId } });
}

function statusOf(
  { message }: Wording,
  state: string,
  { text, of }: { readonly text: string; readonly of: Ids },
): JsonObject {
  const spoken = text === '' ? {} : { message: { ...message(text, of), taskId: of.id } };
  return { state, timestamp: new Date().toISOString(), ...spoken };
}

function stateWord(state: string): string {
  return `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;
}

/** The words of a message, in either version. */
export function textOf(message: JsonObject): string {
  return asArray(message['parts'])
    .map((part) => asText(asObject(part)['text']) ?? '')
    .join(' ')
    .trim();
}
