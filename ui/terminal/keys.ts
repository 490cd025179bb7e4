import type { Key } from 'ink';

/** One key press: its name as the command tables spell it, and the text it types, if any. */
export interface KeyPress {
  readonly name: string;
  readonly text: string;
}

/** What Ink reports, as key presses. Characters that arrive in one chunk (fast typing, paste) become one press each. */
export function keyPresses(input: string, key: Key): KeyPress[] {
  if (key.eventType === 'release') return [];
  const special = specialName(key);
  if (special !== undefined) return [{ name: withModifiers(special, key), text: '' }];
  if (key.ctrl) return input === '' ? [] : [{ name: `ctrl-${input.toLowerCase()}`, text: '' }];
  if (key.meta) return input === '' ? [] : [{ name: `alt-${input}`, text: '' }];
  return [...input].map(character);
}

function character(text: string): KeyPress {
  if (text === '\r' || text === '\n') return { name: 'enter', text: '' };
  if (text === '\t') return { name: 'tab', text: '' };
  if (text === ' ') return { name: 'space', text };
  return { name: text, text };
}

function specialName(key: Key): string | undefined {
  if (key.upArrow) return 'up';
  if (key.downArrow) return 'down';
  if (key.leftArrow) return 'left';
  if (key.rightArrow) return 'right';
  if (key.pageUp) return 'pgup';
  if (key.pageDown) return 'pgdn';
  if (key.home) return 'home';
  if (key.end) return 'end';
  if (key.return) return 'enter';
  if (key.escape) return 'esc';
  if (key.tab) return 'tab';
  if (key.backspace) return 'backspace';
  return key.delete ? 'delete' : undefined;
}

function withModifiers(name: string, key: Key): string {
  if (key.ctrl) return `ctrl-${name}`;
  return key.shift && name === 'tab' ? 'shift-tab' : name;
}
