import type { JsonObject } from '../../src/shared/json.ts';
import type { CommandInfo } from '../terminal/command.ts';
import { clampIndex } from '../terminal/list-window.ts';
import { lineOf } from './edit.ts';
import { firstProblem, valuesOf, type FormState } from './state.ts';

/** What becomes of the form; `suspend` gives the terminal back for a while. */
export type FormEffect =
  | { readonly kind: 'send'; readonly values: JsonObject }
  | { readonly kind: 'decline' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'suspend' };

export interface FormStep {
  readonly state: FormState;
  readonly effect?: FormEffect;
}

export interface FormCommand extends CommandInfo {
  readonly run: (state: FormState) => FormStep;
}

/** Every key of a form but those that write. */
export const formCommands: readonly FormCommand[] = [
  { ...named('send', 'Send the form when nothing is wrong with it', ['enter'], 'Share'), run: send },
  { ...named('next', 'Next field', ['tab', 'down'], 'Move'), run: move(1) },
  { ...named('previous', 'Previous field', ['shift-tab', 'up'], 'Move'), run: move(-1) },
  { ...named('decline', 'Say no to whoever asks', ['ctrl-x'], 'Leave'), run: decline },
  { ...named('cancel', 'Leave without an answer', ['esc'], 'Leave'), run: leave('cancel') },
  { ...named('interrupt', 'Quit from anywhere', ['ctrl-c'], 'Leave'), run: leave('interrupt') },
  { ...named('suspend', 'Suspend; fg continues', ['ctrl-z'], 'Leave'), run: leave('suspend') },
];

/** The keys to name below a form, with what enter does in this one. */
export function formFooter({ verb, declinable, fields, focused }: FormState): CommandInfo[] {
  const words: Readonly<Record<string, string>> = { send: verb };
  const shown = ['send', 'next', ...(declinable ? ['decline'] : []), 'cancel'];
  const keys = shown.flatMap((id) => formCommands.filter((command) => command.id === id));
  const worded = keys.map((command): CommandInfo => ({ ...command, short: words[command.id] ?? command.short }));
  const chooses = fields[focused]?.kind === 'choice' || fields[focused]?.kind === 'boolean';
  return chooses ? worded.toSpliced(2, 0, choosing) : worded;
}

const choosing: CommandInfo = { ...named('choose', 'Next choice', ['space'], 'Look') };

/** Puts the choice beside the present one into the field; what may be left out can be empty, too. */
export function chooseBeside(state: FormState, step: number): FormState {
  const field = state.fields[state.focused];
  if (field === undefined) return state;
  const labels = labelsOf(state);
  const at = labels.indexOf(state.lines[state.focused]?.text ?? '');
  const next = at < 0 && step < 0 ? labels.length - 1 : (at + step + labels.length) % labels.length;
  const text = labels[next] ?? '';
  return { ...state, lines: state.lines.with(state.focused, lineOf(text)) };
}

/** Puts the next choice that begins with a letter into the field. */
export function chooseByLetter(state: FormState, letter: string): FormState {
  const labels = labelsOf(state);
  const from = labels.indexOf(state.lines[state.focused]?.text ?? '');
  const order = [...labels.slice(from + 1), ...labels.slice(0, from + 1)];
  const text = order.find((label) => label.toLowerCase().startsWith(letter.toLowerCase()));
  return text === undefined ? state : { ...state, lines: state.lines.with(state.focused, lineOf(text)) };
}

function labelsOf({ fields, focused }: FormState): readonly string[] {
  const field = fields[focused];
  const labels = field?.kind === 'boolean' ? ['true', 'false'] : (field?.choices.map(({ label }) => label) ?? []);
  const canBeEmpty = field?.required === false && field.schema['default'] === undefined;
  return canBeEmpty ? ['', ...labels] : labels;
}

function named(id: string, title: string, keys: readonly string[], group: CommandInfo['group']): CommandInfo {
  return { id, title, keys, group, short: id };
}

function send(state: FormState): FormStep {
  const wrong = firstProblem(state);
  if (wrong >= 0) return { state: { ...state, tried: true, focused: wrong } };
  return { state, effect: { kind: 'send', values: valuesOf(state) } };
}

function move(step: number): (state: FormState) => FormStep {
  return (state) => ({ state: { ...state, focused: clampIndex(state.focused + step, state.fields.length) } });
}

function decline(state: FormState): FormStep {
  return state.declinable ? { state, effect: { kind: 'decline' } } : { state };
}

function leave(kind: 'cancel' | 'interrupt' | 'suspend'): (state: FormState) => FormStep {
  return (state) => ({ state, effect: { kind } });
}
