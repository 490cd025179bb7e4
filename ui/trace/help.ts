import { helpRows, type HelpSection } from '../terminal/command.ts';
import type { Row } from '../terminal/row.ts';
import { commands } from './commands.ts';

const SECTIONS: readonly HelpSection[] = [
  {
    title: 'What / understands',
    lines: [
      ['word word', 'events that contain both'],
      ['-word', 'events without it'],
      ['type:policy', 'by type'],
      ['sev:error', 'by severity: success, info, warn, error'],
      ['scope:name', 'of calls: their MCP server, mirror, service'],
      ['all:text', 'anywhere in the event, headers included'],
      ['tab', 'in the prompt: hide the others, or only mark'],
    ],
  },
  {
    title: 'Signs',
    lines: [
      ['✓ · ! ✗', 'success, info, warning, error'],
      ['━ ╵ ╌', 'ran, happened, nothing reported'],
      ['█ ┅', 'the slowest step, the longest wait'],
      ['*', 'pinned'],
    ],
  },
];

/** The help of the viewer, made from its command table. */
export function traceHelp(): Row[] {
  return helpRows(commands, SECTIONS);
}
