import { fuzzyScore } from './prompt.ts';
import { emptyRow, fitSegments, row, seg, type Row } from './row.ts';
import { fit, width as cellsOf } from './text.ts';

export type CommandGroup = 'Move' | 'Look' | 'Find' | 'Share' | 'Leave';

const GROUPS: readonly CommandGroup[] = ['Move', 'Look', 'Find', 'Share', 'Leave'];

/** What help, palette and footer need to know of a command. */
export interface CommandInfo {
  readonly id: string;
  readonly title: string;
  readonly keys: readonly string[];
  readonly group: CommandGroup;
  /** One or two words for the footer. */
  readonly short: string;
}

/** More lines of help, under a title: a sign and what it means. */
export interface HelpSection {
  readonly title: string;
  readonly lines: readonly (readonly [string, string])[];
}

/** The help of a screen, made from its command table. */
export function helpRows(commands: readonly CommandInfo[], sections: readonly HelpSection[]): Row[] {
  const keys = GROUPS.map((group): HelpSection => {
    const own = commands.filter((command) => command.group === group);
    return { title: group, lines: own.map((command) => [command.keys.map(keyName).join(' '), command.title]) };
  });
  const shown = [...keys, ...sections].filter((section) => section.lines.length > 0);
  return shown.flatMap((section, at) => [...(at === 0 ? [] : [emptyRow]), ...sectionRows(section)]);
}

/** The commands that fit what is typed, best first. */
export function paletteMatches<C extends CommandInfo>(commands: readonly C[], text: string): C[] {
  return commands
    .flatMap((command) => {
      const score = fuzzyScore(text, command.title);
      return score === undefined ? [] : [{ command, score }];
    })
    .sort((a, b) => b.score - a.score)
    .map(({ command }) => command);
}

/** A prompt and the commands that fit, of which the one at `index` is chosen. */
export function paletteRows(
  found: readonly CommandInfo[],
  typed: { text: string; index: number },
  size: { width: number; height: number },
): Row[] {
  const prompt: Row = { segments: [seg(' :', 'bold'), seg(typed.text), seg('█')] };
  if (found.length === 0) return [prompt, row('   no command fits', 'dim')];
  const room = Math.max(1, size.height - 1);
  const top = Math.max(0, typed.index - room + 1);
  const lines = found.slice(top, top + room);
  return [
    prompt,
    ...lines.map((command, at) =>
      choiceRow(command.keys.map(keyName).join(' '), command.title, {
        chosen: top + at === typed.index,
        width: size.width,
      }),
    ),
  ];
}

/** One line of a menu. */
export function choiceRow(keys: string, title: string, { chosen, width }: { chosen: boolean; width: number }): Row {
  const segments = fitSegments([seg(chosen ? ' ▸ ' : '   '), seg(fit(keys, 15), 'key'), seg(title)], width);
  return chosen ? { segments, base: 'selected' } : { segments };
}

/** A key as a person reads it. */
function keyName(key: string): string {
  return { down: '↓', up: '↑', left: '←', right: '→', enter: '⏎' }[key] ?? key;
}

/** As many `key word` pairs as fit; none is cut in two. The last two, help and the way out, are the last to go. */
export function keyLine(commands: readonly CommandInfo[], columns: number): Row {
  const shown = [...commands];
  while (shown.length > 0 && lineWidth(shown) > columns) shown.splice(Math.max(0, shown.length - 3), 1);
  const segments = shown.flatMap((command, at) => [
    seg(at === 0 ? ' ' : '   '),
    seg(keyName(command.keys[0] ?? ''), 'key'),
    seg(` ${command.short}`, 'dim'),
  ]);
  return { segments: fitSegments(segments, columns) };
}

function lineWidth(commands: readonly CommandInfo[]): number {
  const cells = commands.map((command) => cellsOf(keyName(command.keys[0] ?? '')) + 1 + cellsOf(command.short));
  return cells.reduce((sum, each) => sum + each, 1 + 3 * (commands.length - 1));
}

function sectionRows(section: HelpSection): Row[] {
  return [
    row(section.title, 'title'),
    ...section.lines.map(([sign, meaning]) => ({ segments: [seg(fit(`  ${sign}`, 17), 'key'), seg(meaning)] })),
  ];
}
