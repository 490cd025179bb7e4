import { Args, Flags, type Interfaces } from '@oclif/core';
import { parseDurationMs } from '../../src/shared/duration.ts';
import { usageError } from './usage-error.ts';

/** On every command. */
export const globalFlags = {
  color: Flags.option({ options: ['auto', 'always', 'never'] as const })({
    summary: 'When to use colour.',
    description:
      'NO_COLOR, FORCE_COLOR and TERM=dumb are respected; the answer is decided for stdout and stderr apart.',
    default: 'auto',
    helpGroup: 'GLOBAL',
  }),
  quiet: Flags.boolean({
    char: 'q',
    summary: 'No notes on stderr: what was resolved, progress, warnings.',
    description: 'Errors are printed all the same.',
    helpGroup: 'GLOBAL',
  }),
  verbose: Flags.boolean({ char: 'v', summary: 'Show the stack of an unexpected error.', helpGroup: 'GLOBAL' }),
};

export const durationFlag = Flags.custom<number>({
  helpValue: '<duration>',
  parse: async (input, _context, options) => {
    const ms = parseDurationMs(input);
    if (ms === undefined || ms <= 0 || ms > 2 ** 31 - 1) {
      throw usageError(`--${options.name}: "${input}" is not a duration: expected something like 30s, 500ms or 2m`);
    }
    return ms;
  },
});

export const portFlag = Flags.custom<number>({
  helpValue: '<port>',
  parse: async (input, _context, options) => {
    const port = Number(input);
    if (!/^\d{1,5}$/.test(input) || port < 1 || port > 65_535) {
      throw usageError(`invalid --${options.name} ${input}: expected 1 to 65535`);
    }
    return port;
  },
});

/** A whole number from `min` to `max`. */
export const countFlag = Flags.custom<number, { min?: number; max?: number }>({
  helpValue: '<n>',
  parse: async (input, _context, options) => {
    const value = Number(input);
    const { min = 1, max = Number.MAX_SAFE_INTEGER } = options;
    if (!/^\d{1,15}$/.test(input) || value < min || value > max) {
      const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `between ${min} and ${max}`;
      throw usageError(`invalid --${options.name} ${input}: must be ${range}`);
    }
    return value;
  },
});

const target = { helpGroup: 'TARGET' };

/** Which proxy a command talks to. */
export const liveTargetFlags = {
  local: Flags.boolean({ ...target, summary: 'The proxy on this machine.' }),
  address: Flags.string({
    ...target,
    helpValue: '<host:port>',
    summary: 'Admin address of a proxy: host:port or unix:/path.',
  }),
  'admin-port': portFlag({
    ...target,
    char: 'p',
    aliases: ['proxy-admin-port'],
    summary: 'Admin port of the proxy.',
    description: 'The default is 15000.',
  }),
  namespace: Flags.string({ ...target, char: 'n', helpValue: '<namespace>', summary: 'Namespace of RESOURCE.' }),
  timeout: durationFlag({ ...target, summary: 'How long to wait for an answer.' }),
};

/** A proxy or a saved answer of one. */
export const targetFlags = {
  ...liveTargetFlags,
  file: Flags.string({ ...target, char: 'f', helpValue: '<path>', summary: 'Read a saved dump; - is stdin.' }),
};

/** oclif would read piped stdin as a missing argument, hence `ignoreStdin`. */
export const resourceArg = {
  resource: Args.string({
    ignoreStdin: true,
    description: 'TYPE/NAME in a cluster, as kubectl users know it. Not available in this version.',
  }),
};

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name' | 'jsonl';

/** `-o` with the formats that a command can write; another one is refused with the list of these. */
export function outputFlag<Format extends string>(
  formats: readonly Format[],
  initial: Format,
): Interfaces.OptionFlag<Format> {
  const flag = Flags.custom<string>({
    char: 'o',
    helpGroup: 'OUTPUT',
    helpValue: formats.join('|'),
    summary: 'Format of the answer.',
    default: initial,
    parse: async (input) => {
      if (formats.some((format) => format === input)) return input;
      throw usageError(`output format "${input}" is not supported: expected one of ${formats.join(', ')}`);
    },
  })();
  // The parser above lets through members of the list alone, which oclif's overloads cannot express.
  return flag as unknown as Interfaces.OptionFlag<Format>;
}

export const viewFormats = ['table', 'wide', 'json', 'yaml', 'name'] as const satisfies readonly OutputFormat[];
export const documentFormats = ['table', 'json', 'yaml'] as const satisfies readonly OutputFormat[];
