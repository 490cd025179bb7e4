import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { read, root } from '../markdown.ts';

/** A configuration that shows one policy, with the requests to try it. */
export interface Example {
  /** What it shows, in a sentence or two. */
  readonly intro: string;
  /** As it stands in the file, without comments at both ends. */
  readonly yaml: string;
  readonly tries: readonly Try[];
}

/** `curl … -> 401 x-gw-reason: JwtAuth "text of the body"` */
export interface Try {
  /** Behind `curl`. */
  readonly command: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | undefined;
}

const SCHEMA_LINE = '# yaml-language-server: $schema=../../schema/gwctl.schema.json';

function examplePath(policy: string): string {
  return `examples/policies/${policy}.yaml`;
}

export function hasExample(policy: string): boolean {
  return existsSync(join(root, examplePath(policy)));
}

/**
 * Reads an example: the schema line, the introduction as comments, the configuration, and at the end `# Try:` with one
 * request a line.
 */
export function readExample(policy: string): Example {
  const lines = read(examplePath(policy)).trimEnd().split('\n');
  if (lines[0] !== SCHEMA_LINE) throw new Error(`${examplePath(policy)} does not begin with ${SCHEMA_LINE}`);
  const first = lines.findIndex((line) => !line.startsWith('#'));
  const last = lines.lastIndexOf('# Try:');
  if (last === -1) throw new Error(`${examplePath(policy)} does not end with "# Try:" and requests`);
  return {
    intro: lines
      .slice(1, first)
      .map((line) => line.replace(/^# ?/, ''))
      .join(' '),
    yaml: lines.slice(first, last).join('\n').trim(),
    tries: lines.slice(last + 1).map((line) => parseTry(line.replace(/^#\s*/, ''))),
  };
}

function parseTry(line: string): Try {
  const match = /^curl (.+?)\s+-> (\d{3})((?: [\w-]+: [^"]+?)*)(?: "(.*)")?$/.exec(line);
  if (match === null) throw new Error(`"${line}" is not \`curl … -> STATUS [name: value] ["body"]\``);
  const [, command = '', status = '', headers = '', body] = match;
  return {
    command,
    status: Number(status),
    headers: [...headers.matchAll(/ ([\w-]+): (\S+)/g)].map(([, name = '', value = '']) => [name, value] as const),
    body,
  };
}
