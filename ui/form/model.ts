import type { KeyPress } from '../terminal/keys.ts';
import { chooseBeside, chooseByLetter, formCommands, type FormStep } from './commands.ts';
import { editLine, lineOf } from './edit.ts';
import type { FormState } from './state.ts';

export type FormAction =
  | { readonly kind: 'key'; readonly key: KeyPress }
  | { readonly kind: 'resized'; readonly columns: number; readonly rows: number };

/** The form after something has happened. */
export function stepForm(state: FormState, action: FormAction): FormStep {
  if (action.kind === 'resized') return { state: { ...state, columns: action.columns, rows: action.rows } };
  const command = formCommands.find(({ keys }) => keys.includes(action.key.name));
  return command === undefined ? { state: write(state, action.key) } : command.run(state);
}

function write(state: FormState, key: KeyPress): FormState {
  const [field, line] = [state.fields[state.focused], state.lines[state.focused]];
  if (field === undefined || line === undefined) return state;
  const chooses = field.kind === 'choice' || field.kind === 'boolean';
  if (chooses) return choose(state, key);
  const edited = editLine(line, key);
  return edited === undefined ? state : { ...state, lines: state.lines.with(state.focused, edited) };
}

function choose(state: FormState, key: KeyPress): FormState {
  switch (key.name) {
    case 'right':
    case 'space':
      return chooseBeside(state, 1);
    case 'left':
      return chooseBeside(state, -1);
    case 'backspace':
    case 'delete':
      return { ...state, lines: state.lines.with(state.focused, lineOf('')) };
    default:
      return key.text === '' ? state : chooseByLetter(state, key.text);
  }
}
