import { readText } from '../../src/admin/client/read-file.ts';
import type { Cli } from './cli.ts';
import { usageError } from './usage-error.ts';

/** `Name: value`, as curl takes it. */
export function headerOf(line: string): readonly [name: string, value: string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([^\r\n\0]*)$/.exec(line);
  const [, name, value] = match ?? [];
  if (name === undefined || value === undefined) throw usageError(`"${line}" is not a header: expected "Name: value"`);
  return [name, value.trim()];
}

/** The secret itself, or `@` and the file that holds it. */
export async function secretOf(flag: string, given: string | undefined, cli: Cli): Promise<string | undefined> {
  const secret = given?.startsWith('@') === true ? (await readText(given.slice(1), cli.stdin)).trim() : given;
  if (secret !== undefined && !/^[\x21-\x7e]+$/.test(secret))
    throw usageError(`${flag}: one word of ASCII letters is expected`);
  return secret;
}
