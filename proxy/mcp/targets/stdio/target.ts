import type { McpServer } from '../../../../src/config/ir/mcp.ts';
import type { Log } from '../../../../src/shared/log.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { Target } from '../contract.ts';
import { Backoff } from './backoff.ts';
import { commandOf, type Environment } from './command.ts';
import { type ProgramWatch, StdioConnection } from './connection.ts';
import { KnownLines } from './known-lines.ts';
import { ProgramLog } from './program-log.ts';
import type { Program, ProgramEvents } from './program.ts';
import type { Programs } from './programs.ts';
import type { Spare } from './spare.ts';

export interface StdioTargetOptions {
  readonly name: string;
  readonly server: Extract<McpServer, { kind: 'stdio' }>;
  /** Of the gateway. */
  readonly environment: Environment;
  /** Of the data thread. */
  readonly programs: Programs;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxLineBytes?: number | undefined;
  /** Told what becomes of its programs. */
  readonly watch?: ProgramWatch | undefined;
  /** Where a program waits for the next conversation; without, each one starts its own. */
  readonly spare?: Spare | undefined;
}

/** A server that is a program: each conversation runs one, and speaks over its standard input and output. */
export function stdioTarget(options: StdioTargetOptions): Target {
  const { name, server, environment, programs, clock, log, maxLineBytes, watch, spare } = options;
  const stillborn = new Backoff(clock);
  const known = new KnownLines(clock);
  const start = (events: ProgramEvents, lines: ProgramLog): Program | string =>
    programs.start({ command: commandOf(server, environment), events, log: lines, maxLineBytes });
  const prepare = (): void => {
    if (programs.full) return;
    const lines = new ProgramLog(name, log, clock, known);
    spare?.prepare((events) => start(events, lines), lines);
  };
  return {
    name,
    transport: 'stdio',
    connect: (_state, lone = false) => {
      const lines = new ProgramLog(name, log, clock, known);
      return new StdioConnection({
        name,
        clock,
        stillborn,
        log: lines,
        watch,
        start: (events) => {
          const program = spare?.take(events) ?? start(events, lines);
          if (typeof program !== 'string') follow(program, watch);
          return program;
        },
        // By then it is known to work, and has done most of what keeps the machine busy.
        onAnswered: lone && spare !== undefined ? prepare : undefined,
      });
    },
  };
}

function follow(program: Program, watch: ProgramWatch | undefined): void {
  if (watch === undefined || program.pid === undefined) return;
  watch.programBegan();
  void program.gone.then(() => watch.programEnded());
}
