/** The states that a task of the demo's agent goes through. */
export type TaskState = 'submitted' | 'working' | 'input-required' | 'completed' | 'failed' | 'canceled';

export interface Task {
  readonly id: string;
  readonly contextId: string;
  state: TaskState;
  /** What the agent says of its state. */
  said: string;
  /** What it has made. */
  result: string | undefined;
}

/** What happens to a task, one step after the other. */
export type Step =
  | { readonly kind: 'state'; readonly state: TaskState; readonly text: string }
  | { readonly kind: 'result'; readonly text: string };

/** What the agent makes of a message: something said at once, or work. */
export type Plan =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'work'; readonly steps: readonly Step[] };

const FAIL = /\bfail\b/i;
const PARTY = /\bfor (\d{1,4})\b/;

/** "a tea party for 6" is planned, without a number the agent asks, and everything else is small talk. */
export function planFor(text: string, ongoing: boolean): Plan {
  const guests = Number(PARTY.exec(text)?.[1] ?? (ongoing ? /\d{1,4}/.exec(text)?.[0] : undefined));
  if (!ongoing && !/\bparty\b/i.test(text) && !FAIL.test(text))
    return { kind: 'say', text: 'I plan tea parties. Ask me for "a tea party for 6".' };
  const begin: Step = { kind: 'state', state: 'working', text: 'Looking into the cupboard.' };
  if (FAIL.test(text)) return { kind: 'work', steps: [begin, end('failed', 'The cupboard fell over, as was asked.')] };
  if (!Number.isInteger(guests) || guests === 0)
    return { kind: 'work', steps: [begin, end('input-required', 'How many guests?')] };
  const pots = Math.ceil(guests / 4);
  const result = `${guests} cups, ${pots} ${pots === 1 ? 'teapot' : 'teapots'}, 1 kettle`;
  return { kind: 'work', steps: [begin, { kind: 'result', text: result }, end('completed', 'Here is the plan.')] };
}

function end(state: TaskState, text: string): Step {
  return { kind: 'state', state, text };
}

export function take(task: Task, step: Step): void {
  if (step.kind === 'result') task.result = step.text;
  else {
    task.state = step.state;
    task.said = step.text;
  }
}

/** Whether nothing more comes of it by itself. */
export function rests(state: TaskState): boolean {
  return state !== 'submitted' && state !== 'working';
}
