import { runScreen, suspendProcess, type Terminal } from '../terminal/run-screen.tsx';
import type { TerminalControl } from '../terminal/Screen.tsx';
import { createStore } from '../terminal/store.ts';
import { themeFor } from '../theme.ts';
import { FormView } from './App.tsx';
import type { FormEffect } from './commands.ts';
import { stepForm, type FormAction } from './model.ts';
import { initialForm, type FormOptions } from './state.ts';

export type FormOutcome = Exclude<FormEffect, { kind: 'suspend' }>;

/**
 * Shows a form until it is sent or left, and gives the terminal back. Rejects with `GW_NOT_A_TERMINAL` off a terminal.
 * Loads React and Ink, so commands import it dynamically.
 */
export async function openForm(
  options: FormOptions & Terminal & { readonly signal: AbortSignal },
): Promise<FormOutcome> {
  const { stdout } = options;
  const store = createStore(initialForm(options, { columns: stdout.columns, rows: stdout.rows }));
  const theme = themeFor(options.env);
  let control: TerminalControl | undefined;
  let outcome: FormOutcome = { kind: 'interrupt' };
  const dispatch = (action: FormAction): void => {
    const { state, effect } = stepForm(store.get(), action);
    store.set(state);
    if (effect?.kind === 'suspend') void (control === undefined ? undefined : suspendProcess(control));
    else if (effect !== undefined) {
      outcome = effect;
      control?.exit();
    }
  };
  // `signal` ends it too: of the process, or of a call that is over, where nobody waits for the answer.
  await runScreen({
    ...options,
    store,
    draw: (state) => <FormView state={state} theme={theme} />,
    onKey: (key) => dispatch({ kind: 'key', key }),
    onReady: (ready) => (control = ready),
    onResize: (columns, rows) => dispatch({ kind: 'resized', columns, rows }),
  });
  return outcome;
}
