import { Command, type Interfaces } from '@oclif/core';
import { CliConfig, paintFor, widthOf, write, type Cli, type ColourFlag } from './cli.ts';
import { globalFlags } from './flags.ts';
import { usageError } from './usage-error.ts';
import type { ExitCode } from '../../src/shared/errors.ts';
import type { Paint } from '../../ui/text/paint.ts';

type Values = Record<string, unknown>;

/** Where a command's words go, for functions that print for it. */
export interface Printer {
  readonly cli: Cli;
  readonly out: (text: string | Uint8Array) => Promise<void>;
  readonly note: (text: string) => Promise<void>;
  readonly paint: Paint;
  /** Whether notes are left out. */
  readonly quiet: boolean;
  /** Columns of the terminal at this moment; undefined where nothing is cut. */
  readonly columns: number | undefined;
}

/** The base of every command: streams, colour, and what stands behind `--`. */
export abstract class GwCommand extends Command {
  static override baseFlags = globalFlags;
  /** Whether words behind `--` mean something. */
  static takesRest = false;

  /** The words behind the first `--`; oclif would mix them into the arguments. */
  protected readonly rest: readonly string[];
  readonly #hasRest: boolean;
  #colour: ColourFlag = 'auto';
  #quiet = false;

  constructor(argv: string[], config: Interfaces.Config) {
    const at = argv.indexOf('--');
    super(at === -1 ? argv : argv.slice(0, at), asConfig(config));
    this.rest = at === -1 ? [] : argv.slice(at + 1);
    this.#hasRest = at !== -1;
  }

  /** Does the work; the number is the exit code, nothing is 0. */
  abstract override run(): Promise<ExitCode | void>;

  protected get cli(): Cli {
    return asConfig(this.config).cli;
  }

  protected override async parse<F extends Values, B extends Values, A extends Values>(
    options?: Interfaces.Input<F, B, A>,
  ): Promise<Interfaces.ParserOutput<F, B, A>> {
    // Subclasses redefine the static, so it is read through the class of this object.
    const { takesRest } = this.constructor as typeof GwCommand;
    if (this.#hasRest && !takesRest) throw usageError('this command takes nothing behind --');
    const parsed = await super.parse(options, this.argv);
    const { color, quiet } = parsed.flags as { readonly color?: ColourFlag; readonly quiet?: boolean };
    this.#colour = color ?? 'auto';
    this.#quiet = quiet === true;
    return parsed;
  }

  protected get paint(): Paint {
    return paintFor(this.cli.stdout, this.cli.env, this.#colour);
  }

  /** Columns that a table may take; undefined where nothing is cut. */
  protected get columns(): number | undefined {
    return widthOf(this.cli.stdout);
  }

  protected get printer(): Printer {
    const { cli, paint, quiet } = this;
    return {
      cli,
      paint,
      quiet,
      out: (text) => this.out(text),
      note: (text) => this.note(text),
      get columns() {
        return widthOf(cli.stdout);
      },
    };
  }

  /** The answer. */
  protected async out(text: string | Uint8Array): Promise<void> {
    await write(this.cli.stdout, text);
  }

  /** Whether `--quiet` was given, for what is drawn on stderr by other means than `note`. */
  protected get quiet(): boolean {
    return this.#quiet;
  }

  /** Everything that is not the answer: what was resolved, progress, warnings. Nothing with `--quiet`. */
  protected async note(text: string): Promise<void> {
    if (this.#quiet) return;
    await write(this.cli.stderr, `${text}\n`);
  }
}

function asConfig(config: Interfaces.Config): CliConfig {
  if (config instanceof CliConfig) return config;
  throw new TypeError('commands are started by commands/_base/main');
}
