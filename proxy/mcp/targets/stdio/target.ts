import type { McpServer } from '../../../../src/config/ir/mcp.ts';
import type { Log } from '../../../../src/shared/log.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { Target } from '../contract.ts';
import { Backoff } from './backoff.ts';
import { commandOf, type Environment } from './command.ts';
import { type ProgramWatch, StdioConnection } from './connection.ts';
import { ProgramLog } from './program-log.ts';
import type { Program } from './program.ts';
import type { Programs } from './programs.ts';

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
}

/** A server that is a program: each conversation runs one, and speaks over its standard input and output. */
export function stdioTarget(options: StdioTargetOptions): Target {
  const { name, server, environment, programs, clock, log, maxLineBytes, watch } = options;
  const stillborn = new Backoff(clock);
  return {
    name,
    transport: 'stdio',
    connect: () => {
      const lines = new ProgramLog(name, log, clock);
      return new StdioConnection({
        name,
        clock,
        stillborn,
        log: lines,
        watch,
        start: (events) => {
          const program = programs.start({ command: commandOf(server, environment), events, log: lines, maxLineBytes });
          if (typeof program !== 'string') follow(program, watch);
          return program;
        },
      });
    },
  };
}

function follow(program: Program, watch: ProgramWatch | undefined): void {
  if (watch === undefined || program.pid === undefined) return;
  watch.programBegan();
  void program.gone.then(() => watch.programEnded());
}
