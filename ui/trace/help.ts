import { emptyRow, row, seg, type Row } from '../terminal/row.ts';
import { fit } from '../terminal/text.ts';
import { commands, type CommandGroup } from './commands.ts';

const GROUPS: readonly CommandGroup[] = ['Move', 'Look', 'Find', 'Share', 'Leave'];
const FIND_NOTES: readonly (readonly [string, string])[] = [
  ['word word', 'events that contain both'],
  ['-word', 'events without it'],
  ['type:policy', 'by type'],
  ['sev:error', 'by severity: success, info, warn, error'],
  ['all:text', 'anywhere in the event, headers included'],
  ['tab', 'in the prompt: hide the others, or only mark'],
];

const SIGNS: readonly (readonly [string, string])[] = [
  ['✓ · ! ✗', 'success, info, warning, error'],
  ['━ ╵ ╌', 'ran, happened, nothing reported'],
  ['*', 'pinned'],
];

/** The help of the viewer, made from its command table. */
export function helpRows(): Row[] {
  const rows: Row[] = [];
  for (const group of GROUPS) {
    rows.push(row(group, 'title'));
    for (const command of commands.filter((candidate) => candidate.group === group)) {
      rows.push({ segments: [seg(fit(`  ${command.keys.map(keyName).join(' ')}`, 16), 'key'), seg(command.title)] });
    }
    rows.push(emptyRow);
  }
  return [...rows, ...section('What / understands', FIND_NOTES), emptyRow, ...section('Signs', SIGNS)];
}

export function helpRowCount(): number {
  return commands.length + GROUPS.length * 2 + FIND_NOTES.length + SIGNS.length + 3;
}

/** A key as a person reads it. */
export function keyName(key: string): string {
  return { down: '↓', up: '↑', left: '←', right: '→', enter: '⏎' }[key] ?? key;
}

function section(title: string, lines: readonly (readonly [string, string])[]): Row[] {
  return [
    row(title, 'title'),
    ...lines.map(([sign, meaning]) => ({ segments: [seg(fit(`  ${sign}`, 16), 'key'), seg(meaning)] })),
  ];
}
