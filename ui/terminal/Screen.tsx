import { useApp, useInput, usePaste } from 'ink';
import { useEffect, useSyncExternalStore, type ReactElement } from 'react';
import { keyPresses, type KeyPress } from './keys.ts';
import type { Store } from './store.ts';

/** What a screen lets its owner do with the terminal once it is mounted. */
export interface TerminalControl {
  readonly exit: () => void;
  /** Gives the terminal back while `during` runs, then takes it again and draws everything anew. */
  readonly suspend: (during: () => void | Promise<void>) => Promise<void>;
}

interface ScreenProps<T> {
  readonly store: Store<T>;
  readonly draw: (state: T) => ReactElement;
  readonly onKey: (key: KeyPress) => void;
  readonly onReady: (control: TerminalControl) => void;
}

/** Connects a store to the terminal: draws its value, hands keys and pasted text to its owner. */
export function Screen<T>({ store, draw, onKey, onReady }: ScreenProps<T>): ReactElement {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const { exit, suspendTerminal } = useApp();
  useInput((input, key) => {
    for (const press of keyPresses(input, key)) onKey(press);
  });
  usePaste((text) => onKey({ name: 'paste', text: text.replaceAll(/\s*[\r\n]+\s*/g, ' ') }));
  useEffect(
    () => onReady({ exit: () => exit(), suspend: (during) => suspendTerminal(during) }),
    [exit, suspendTerminal, onReady],
  );
  return draw(state);
}
