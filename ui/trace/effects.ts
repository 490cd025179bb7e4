import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { planCopy } from '../terminal/clipboard.ts';
import { writeNewFile } from '../terminal/write-file.ts';
import { toCurl, toHar, toJsonLines } from './export.ts';
import type { ExportFormat, Tone, TraceState } from './state.ts';

/** What the viewer says after it has done something outside of itself. */
export interface Outcome {
  readonly text: string;
  readonly tone: Tone;
}

/** What effects need of the world. */
export interface EffectDeps {
  readonly write: (sequence: string) => void;
  readonly directory: string;
  readonly ssh: boolean;
  readonly tmux: boolean;
}

interface EffectSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: { readonly write: (text: string) => unknown };
  /** Whether the terminal is reached through SSH; told from the environment when left out. */
  readonly ssh?: boolean | undefined;
}

/** What effects need, taken from the terminal and its environment. */
export function effectDeps({ env, stdout, ssh }: EffectSurroundings): EffectDeps {
  return {
    write: (sequence) => void stdout.write(sequence),
    directory: process.cwd(),
    ssh: ssh ?? (env['SSH_TTY'] ?? env['SSH_CONNECTION'] ?? '') !== '',
    tmux: (env['TMUX'] ?? '') !== '',
  };
}

/** Copies the text of the detail pane. */
export function copyDetail(state: TraceState, deps: EffectDeps): Outcome {
  const { lines, marks } = state.detail;
  const text = lines.map((line, at) => (marks === undefined ? line : `${marks[at] ?? ' '} ${line}`)).join('\n');
  if (text === '') return { text: 'there is nothing to copy yet', tone: 'error' };
  const plan = planCopy(text, deps);
  if (plan.sequence === undefined) return { text: plan.message, tone: 'error' };
  deps.write(plan.sequence);
  return { text: plan.message, tone: 'success' };
}

/** Writes what has been seen so far to a new file and says where it is. */
export async function exportTrace(state: TraceState, format: ExportFormat, deps: EffectDeps): Promise<Outcome> {
  const content = contentFor(state, format);
  if (content === undefined || content.text === '') return { text: 'there is nothing to export yet', tone: 'error' };
  try {
    return { text: `wrote ${await writeNewFile(deps.directory, content.name, content.text)}`, tone: 'success' };
  } catch (error) {
    return { text: `cannot write ${content.name}: ${messageOf(error)}`, tone: 'error' };
  }
}

function contentFor(state: TraceState, format: ExportFormat): { name: string; text: string } | undefined {
  if (format === 'curl') {
    const text = toCurl(eventsOf(state, state.selection?.request ?? 0));
    return text === undefined ? undefined : { name: 'request.sh', text };
  }
  if (format === 'har')
    return {
      name: 'trace.har',
      text: state.groups.length === 0 ? '' : toHar(state.groups.map((_, at) => eventsOf(state, at))),
    };
  return {
    name: 'trace.jsonl',
    text: toJsonLines(state.entries.items.slice(0, state.entries.length).map((entry) => entry.event)),
  };
}

function eventsOf(state: TraceState, request: number): TraceEvent[] {
  const list = state.groups[request]?.events;
  if (list === undefined) return [];
  return list.items.slice(0, list.length).flatMap((index) => state.entries.items[index]?.event ?? []);
}
