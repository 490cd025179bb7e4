/** The facts about a command that completion needs; the command manifest has them. */
export interface CompletionCommand {
  /** Words of the command. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly flags: readonly CompletionFlag[];
}

export interface CompletionFlag {
  readonly name: string;
  readonly char: string | undefined;
  readonly summary: string;
  /** Whether a value follows. */
  readonly takesValue: boolean;
  readonly values: readonly string[];
  /** Whether the value is a file name. */
  readonly file: boolean;
}

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A completion script for one shell; it holds every word itself, so that completing starts no process. */
export function completionScript(shell: Shell, bin: string, commands: readonly CompletionCommand[]): string {
  const ordered = [...commands].sort((a, b) => (a.words.join(' ') < b.words.join(' ') ? -1 : 1));
  if (shell === 'bash') return bashScript(bin, ordered);
  return shell === 'zsh' ? zshScript(bin, ordered) : fishScript(bin, ordered);
}

/** Reads commands out of the manifest or out of oclif's loaded commands, hidden aliases left out. */
export function completionCommands(entries: readonly unknown[]): readonly CompletionCommand[] {
  return entries.flatMap((entry) => {
    // oclif's own shape of a cached command; fields that are missing count as empty.
    const command = entry as ManifestCommand;
    if (command.hidden === true) return [];
    const flags = Object.values(command.flags ?? {}).filter((flag) => flag.hidden !== true);
    return [...new Set([command.id, ...(command.aliases ?? [])])].map((id) => ({
      words: id.split(':'),
      summary: command.summary ?? '',
      flags: [...flags.map(flagOf), helpFlag],
    }));
  });
}

interface ManifestFlag {
  readonly name: string;
  readonly char?: string;
  readonly summary?: string;
  readonly type: string;
  readonly hidden?: boolean;
  readonly options?: readonly string[];
  readonly helpValue?: string | readonly string[];
}

interface ManifestCommand {
  readonly id: string;
  readonly hidden?: boolean;
  readonly aliases?: readonly string[];
  readonly summary?: string;
  readonly flags?: Readonly<Record<string, ManifestFlag>>;
}

const helpFlag: CompletionFlag = {
  name: 'help',
  char: 'h',
  summary: 'Show help.',
  takesValue: false,
  values: [],
  file: false,
};

function flagOf(flag: ManifestFlag): CompletionFlag {
  const hint = typeof flag.helpValue === 'string' ? flag.helpValue : '';
  return {
    name: flag.name,
    char: flag.char,
    summary: flag.summary ?? '',
    takesValue: flag.type !== 'boolean',
    values: flag.options ?? (/^[\w-]+(\|[\w-]+)+$/.test(hint) ? hint.split('|') : []),
    file: /path|file/.test(hint),
  };
}

/** Every word that may follow each beginning of a command: `proxy` → config, trace, … */
function nextWords(commands: readonly CompletionCommand[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands) {
    words.forEach((word, at) => {
      const before = words.slice(0, at).join(' ');
      next.set(before, (next.get(before) ?? new Set()).add(word));
    });
  }
  return new Map([...next].map(([before, words]) => [before, [...words].sort()]));
}

function spellings(flag: CompletionFlag): readonly string[] {
  return [`--${flag.name}`, ...(flag.char === undefined ? [] : [`-${flag.char}`])];
}

function bashScript(bin: string, commands: readonly CompletionCommand[]): string {
  const words = [...nextWords(commands)].map(([before, next]) => `    "${before}") words="${next.join(' ')}" ;;`);
  const flags = commands.map(
    (command) => `    "${command.words.join(' ')}") flags="${command.flags.flatMap(spellings).join(' ')}" ;;`,
  );
  const values = commands.flatMap((command) =>
    command.flags
      .filter((flag) => flag.takesValue)
      .map((flag) => {
        const patterns = spellings(flag)
          .map((spelling) => `"${command.words.join(' ')} ${spelling}"`)
          .join('|');
        return flag.file
          ? `    ${patterns}) COMPREPLY=($(compgen -f -- "$cur")); return ;;`
          : `    ${patterns}) COMPREPLY=($(compgen -W "${flag.values.join(' ')}" -- "$cur")); return ;;`;
      }),
  );
  return `# bash completion for ${bin}: source <(${bin} completion bash)
_${bin}() {
  local cur prev path="" words="" flags="" word
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ "$word" == -- ]] && return
    [[ "$word" == -* ]] && break
    path="\${path:+$path }$word"
  done
  case "$path $prev" in
${values.join('\n')}
  esac
  case "$path" in
${words.join('\n')}
  esac
  case "$path" in
${flags.join('\n')}
  esac
  if [[ "$cur" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o default -F _${bin} ${bin}
`;
}

function zshScript(bin: string, commands: readonly CompletionCommand[]): string {
  const quote = (text: string): string => text.replaceAll("'", '').replaceAll(':', '\\:');
  const words = [...nextWords(commands)].map(([before, next]) => {
    const entries = next.map((word) => {
      const whole = `${before} ${word}`.trim();
      const summary = commands.find((command) => command.words.join(' ') === whole)?.summary ?? '';
      return `'${word}:${quote(summary)}'`;
    });
    return `    '${before}') words=(${entries.join(' ')}) ;;`;
  });
  const flags = commands.map((command) => {
    const entries = command.flags.flatMap((flag) =>
      spellings(flag).map((spelling) => `'${spelling}:${quote(flag.summary)}'`),
    );
    return `    '${command.words.join(' ')}') flags=(${entries.join(' ')}) ;;`;
  });
  const values = commands.flatMap((command) =>
    command.flags
      .filter((flag) => flag.takesValue)
      .map((flag) => {
        const patterns = spellings(flag)
          .map((spelling) => `'${command.words.join(' ')} ${spelling}'`)
          .join('|');
        return flag.file
          ? `    ${patterns}) _files; return ;;`
          : `    ${patterns}) compadd -- ${flag.values.join(' ')}; return ;;`;
      }),
  );
  return `#compdef ${bin}
# zsh completion for ${bin}: source <(${bin} completion zsh)
_${bin}() {
  local path_words="" word
  local -a words_before flags
  words_before=("\${(@)words[2,CURRENT-1]}")
  local prev="\${words[CURRENT-1]}" cur="\${words[CURRENT]}"
  for word in $words_before; do
    [[ "$word" == -- ]] && { _default; return }
    [[ "$word" == -* ]] && break
    path_words="\${path_words:+$path_words }$word"
  done
  case "$path_words $prev" in
${values.join('\n')}
  esac
  local -a words
  case "$path_words" in
${words.join('\n')}
  esac
  case "$path_words" in
${flags.join('\n')}
  esac
  if [[ "$cur" == -* ]]; then
    _describe -o 'flag' flags
  elif (( $#words )); then
    _describe 'command' words
  else
    _files
  fi
}
compdef _${bin} ${bin}
`;
}

function fishScript(bin: string, commands: readonly CompletionCommand[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = [
    `# fish completion for ${bin}: ${bin} completion fish | source`,
    `function __${bin}_path`,
    '  set -l path',
    '  for word in (commandline -opc)[2..-1]',
    '    string match -q -- "-*" $word; and break',
    '    set -a path $word',
    '  end',
    '  echo (string join " " $path)',
    'end',
    `complete -c ${bin} -f`,
  ];
  for (const [before, next] of nextWords(commands)) {
    for (const word of next) {
      const whole = `${before} ${word}`.trim();
      const summary = commands.find((command) => command.words.join(' ') === whole)?.summary ?? '';
      lines.push(
        `complete -c ${bin} -n ${quote(`test (__${bin}_path) = "${before}"`)} -a ${quote(word)} -d ${quote(summary)}`,
      );
    }
  }
  for (const command of commands) {
    for (const flag of command.flags) {
      const value = flag.takesValue ? (flag.file ? ' -r -F' : ` -x -a ${quote(flag.values.join(' '))}`) : '';
      const short = flag.char === undefined ? '' : ` -s ${flag.char}`;
      const when = quote(`test (__${bin}_path) = "${command.words.join(' ')}"`);
      lines.push(`complete -c ${bin} -n ${when} -l ${flag.name}${short}${value} -d ${quote(flag.summary)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
