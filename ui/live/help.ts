import { helpRows } from '../terminal/command.ts';
import type { Row } from '../terminal/row.ts';
import { liveCommands } from './commands.ts';

/** The help of the live screen, made from its command table. */
export function liveHelp(): Row[] {
  const filter: readonly (readonly [string, string])[] = [
    ['word word', 'requests that contain both'],
    ['-word', 'requests without it'],
  ];
  return helpRows(liveCommands, [{ title: 'What / understands', lines: filter }]);
}
