import { existsSync } from 'node:fs';
import type { Found, LintRule } from '../finding.ts';
import { isMap, under } from '../walk.ts';

/** A command line where one program is asked for. */
export const commandWithArguments: LintRule = {
  code: 'GW_LINT_MCP_COMMAND_LINE',
  severity: 'warning',
  summary: '`stdio.cmd` with spaces that is no file: it is one program, and no shell takes it apart',
  check: ({ raw }) =>
    [...under(raw, 'stdio')].flatMap(({ path, value }): Found[] => {
      const cmd = isMap(value) ? value['cmd'] : undefined;
      if (typeof cmd !== 'string' || !/\S\s+\S/.test(cmd) || existsSync(cmd)) return [];
      // What follows may be nobody's business.
      const [program] = cmd.trim().split(/\s/);
      const message = 'there is no file of this name: cmd is one program';
      return [{ path: [...path, 'cmd'], message, hint: `put the rest into args: \`cmd: ${program}, args: […]\`` }];
    }),
};
