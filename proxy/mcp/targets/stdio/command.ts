import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { McpServer } from '../../../../src/config/ir/mcp.ts';

/** Names and values of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Command {
  /** A path, or a name that was not found. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
}

/** Keys of the gateway itself, which no program needs. */
const KEPT_BACK = new Set(['SESSION_KEY', 'OIDC_COOKIE_SECRET']);

/** What is run for a target. The command is looked up where the gateway finds commands, whatever the program's own `PATH`. */
export function commandOf(server: Extract<McpServer, { kind: 'stdio' }>, environment: Environment): Command {
  const env: Record<string, string> = {};
  if (!server.clearEnv)
    for (const [name, value] of Object.entries(environment))
      if (value !== undefined && !KEPT_BACK.has(name)) env[name] = value;
  for (const [name, value] of Object.entries(server.env)) env[name] = value.reveal();
  const path = server.env['PATH']?.reveal() ?? environment['PATH'] ?? '';
  return { file: found(server.command, path) ?? server.command, args: server.args, env };
}

function found(command: string, path: string): string | null {
  if (command.includes('/')) return command;
  for (const folder of path.split(delimiter)) {
    const file = join(folder === '' ? '.' : folder, command);
    if (isExecutable(file)) return file;
  }
  return null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
