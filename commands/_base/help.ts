import type { Command } from '@oclif/core';
import { clean, width } from '../../ui/terminal/text.ts';
import type { Paint } from '../../ui/text/paint.ts';
import type { CliConfig } from './cli.ts';
import type { Resolved } from './resolve.ts';

export interface HelpOptions {
  /** `--help`: descriptions, examples, aliases; without it (`-h`) one line for each flag. */
  readonly long: boolean;
  readonly width: number;
  readonly paint: Paint;
}

type Flag = Command.Flag.Cached;

interface Entry {
  readonly name: string;
  readonly text: string;
}

/** The help of a command, of a group of commands, or of the program. */
export function renderHelp(resolved: Resolved, config: CliConfig, options: HelpOptions): string {
  if (resolved.kind === 'command') return commandHelp(resolved.command, config, options);
  if (resolved.kind === 'topic') return topicHelp(resolved.id, config, options);
  return rootHelp(config, options);
}

function rootHelp(config: CliConfig, options: HelpOptions): string {
  const commands = primaryCommands(config);
  return sections(options, [
    { lines: [config.pjson['description'] as string] },
    { title: 'USAGE', lines: [`$ ${config.bin} <command…> [RESOURCE] [flags] [-- request]`] },
    { title: 'COMMANDS', lines: list(commands.map(commandEntry), options) },
    {
      lines: [
        `${config.bin} <command> -h shows the flags of a command, --help everything about it.`,
        `The words "proxy" may be left out: ${config.bin} config all, ${config.bin} trace, ${config.bin} profile cpu.`,
      ],
    },
  ]);
}

function topicHelp(id: string, config: CliConfig, options: HelpOptions): string {
  const name = id.replaceAll(':', ' ');
  const inside = primaryCommands(config).filter((command) =>
    [command.id, ...command.aliases].some((spelling) => spelling.startsWith(`${id}:`)),
  );
  const hidden = config.commands.filter((command) => command.id.startsWith(`${id}:`));
  const shown = inside.length > 0 ? inside.map(commandEntry) : hidden.map(commandEntry);
  const description = config.findTopic(id)?.description;
  return sections(options, [
    ...(description === undefined ? [] : [{ lines: [description] }]),
    { title: 'USAGE', lines: [`$ ${config.bin} ${name} <command>`] },
    { title: 'COMMANDS', lines: list(shown, options) },
  ]);
}

function commandEntry(command: Command.Loadable): Entry {
  return { name: command.id.replaceAll(':', ' '), text: command.summary ?? '' };
}

/** One entry for each command, under its own name, not its aliases. */
export function primaryCommands(config: CliConfig): readonly Command.Loadable[] {
  return config.commands
    .filter((command) => !command.hidden && ![...command.aliases, ...command.hiddenAliases].includes(command.id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
}

interface Section {
  readonly title?: string;
  readonly lines: readonly string[];
}

function commandHelp(command: Command.Loadable, config: CliConfig, options: HelpOptions): string {
  const known = config.commands.find(
    (other) => other.aliases.includes(command.id) || other.hiddenAliases.includes(command.id),
  );
  const id = (known?.id ?? command.id).replaceAll(':', ' ');
  const flags = Object.values(command.flags).filter((flag) => flag.hidden !== true);
  const groups = [...new Set(flags.map((flag) => flag.helpGroup ?? 'FLAGS'))].sort((a, b) => rank(a) - rank(b));
  return sections(options, [
    { lines: [command.summary ?? ''] },
    { title: 'USAGE', lines: [`$ ${config.bin} ${usageOf(command, id)}`] },
    ...argumentSection(command, options),
    ...groups.map((group) => ({
      title: group,
      lines: list(
        flags.filter((flag) => (flag.helpGroup ?? 'FLAGS') === group).map((flag) => flagEntry(flag, options)),
        options,
      ),
    })),
    ...(options.long
      ? longSections(command, id, config, options)
      : [{ lines: [`${config.bin} ${id} --help shows examples and details.`] }]),
  ]);
}

function longSections(command: Command.Loadable, id: string, config: CliConfig, options: HelpOptions): Section[] {
  const aliases = command.aliases
    .filter((alias) => alias !== id.replaceAll(' ', ':'))
    .map((alias) => `${config.bin} ${alias.replaceAll(':', ' ')}`);
  const examples = (command.examples ?? []).flatMap((example) =>
    typeof example === 'string' ? [`$ ${example}`] : [`# ${example.description}`, `$ ${example.command}`, ''],
  );
  return [
    ...(command.description === undefined
      ? []
      : [{ title: 'DESCRIPTION', lines: wrapAll(command.description, options.width - 2) }]),
    ...(aliases.length === 0 ? [] : [{ title: 'ALIASES', lines: aliases }]),
    ...(examples.length === 0
      ? []
      : [{ title: 'EXAMPLES', lines: examples.at(-1) === '' ? examples.slice(0, -1) : examples }]),
    { title: 'EXIT CODES', lines: [`${config.bin} help exit-codes`] },
  ];
}

const GROUP_ORDER = ['FLAGS', 'REQUEST', 'EXPECTATIONS', 'TARGET', 'OUTPUT', 'GLOBAL'];

function rank(group: string): number {
  const at = GROUP_ORDER.indexOf(group);
  return at === -1 ? 0 : at;
}

function usageOf(command: Command.Loadable, id: string): string {
  if (typeof command.usage === 'string') return command.usage;
  const args = Object.values(command.args).map((arg) =>
    arg.required === true ? arg.name.toUpperCase() : `[${arg.name.toUpperCase()}]`,
  );
  return [id, ...args, '[flags]'].join(' ');
}

function argumentSection(command: Command.Loadable, options: HelpOptions): Section[] {
  const args = Object.values(command.args).filter((arg) => arg.hidden !== true);
  if (args.length === 0) return [];
  return [
    {
      title: 'ARGUMENTS',
      lines: list(
        args.map((arg) => ({ name: arg.name.toUpperCase(), text: arg.description ?? '' })),
        options,
      ),
    },
  ];
}

function flagEntry(flag: Flag, options: HelpOptions): Entry {
  const short = flag.char === undefined ? '    ' : `-${flag.char}, `;
  const long = flag.type === 'boolean' && flag.allowNo === true ? `--[no-]${flag.name}` : `--${flag.name}`;
  return { name: `${short}${long}${valueOf(flag)}`, text: flagText(flag, options.long) };
}

function valueOf(flag: Flag): string {
  if (flag.type === 'boolean') return '';
  const value = flag.helpValue ?? flag.options?.join('|') ?? '<value>';
  return ` ${Array.isArray(value) ? value.join(' ') : value}${flag.multiple === true ? ' …' : ''}`;
}

function flagText(flag: Flag, long: boolean): string {
  const initial = flag.type === 'option' && typeof flag.default === 'string' ? `Default: ${flag.default}.` : '';
  const others = flag.aliases?.length ? `Also: ${flag.aliases.map((alias) => `--${alias}`).join(', ')}.` : '';
  return [flag.summary ?? '', ...(long ? [flag.description ?? '', initial, others] : [initial])]
    .filter(Boolean)
    .join(' ');
}

function list(entries: readonly Entry[], options: HelpOptions): readonly string[] {
  const names = Math.min(Math.max(0, ...entries.map((entry) => width(entry.name))), 34);
  const room = Math.max(20, options.width - names - 5);
  return entries.flatMap(({ name, text }) => {
    const lines = wrapAll(text, room);
    const fits = width(name) <= names;
    const first = fits
      ? `${options.paint('key', name)}${' '.repeat(names - width(name))}  ${lines[0] ?? ''}`.trimEnd()
      : options.paint('key', name);
    const rest = (fits ? lines.slice(1) : lines).map((line) => `${' '.repeat(names + 2)}${line}`);
    return [first, ...rest];
  });
}

/** Breaks at spaces; line breaks of the text stay. */
function wrapAll(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && width(line) + 1 + width(word) > columns) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    return [...lines, line];
  });
}

function sections(options: HelpOptions, all: readonly Section[]): string {
  return all
    .filter((section) => section.lines.length > 0)
    .map(({ title, lines }) => {
      const body = lines.map((line) => (title === undefined || line === '' ? line : `  ${line}`)).join('\n');
      return title === undefined ? `${body}\n` : `${options.paint('bold', clean(title))}\n${body}\n`;
    })
    .join('\n');
}
