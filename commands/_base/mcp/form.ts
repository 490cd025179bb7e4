import { createInterface } from 'node:readline/promises';
import { argumentsOf } from '../../../src/mcp/arguments.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts';
import type { Cli } from '../cli.ts';

/**
 * Asks a person at a terminal for what a tool needs and nobody gave, one line each; a line that is no value of its type is
 * asked for again. Without a terminal the tool is called with what there is.
 */
export async function askArguments(schema: JsonObject | undefined, given: JsonObject, cli: Cli): Promise<JsonObject> {
  const missing = missingArguments(schema, given);
  if (missing.length === 0 || !isTerminal(cli.stdin) || !isTerminal(cli.stderr)) return given;
  const lines = createInterface({ input: cli.stdin, output: cli.stderr });
  try {
    let filled = given;
    for (const { name, question } of missing)
      for (let done = false; !done;) {
        const line = await lines.question(question, { signal: cli.signal });
        try {
          filled = { ...filled, ...argumentsOf([`${name}=${line}`], schema) };
          done = true;
        } catch (error) {
          cli.stderr.write(`${messageOf(error)}\n`);
        }
      }
    return filled;
  } finally {
    lines.close();
  }
}

interface Missing {
  readonly name: string;
  readonly question: string;
}

function missingArguments(schema: JsonObject | undefined, given: JsonObject): readonly Missing[] {
  const properties = isJsonObject(schema?.['properties']) ? schema['properties'] : {};
  const required: readonly unknown[] = Array.isArray(schema?.['required']) ? schema['required'] : [];
  return required.flatMap((name) => {
    if (typeof name !== 'string' || Object.hasOwn(given, name)) return [];
    const property = isJsonObject(properties[name]) ? properties[name] : {};
    const { type, description, enum: choices } = property;
    const words = [typeof type === 'string' ? type : '', Array.isArray(choices) ? choices.join(' | ') : ''];
    const facts = words.filter((word) => word !== '').join(', ');
    const about = typeof description === 'string' ? ` – ${description}` : '';
    return [{ name, question: `${name}${facts === '' ? '' : ` (${facts})`}${about}: ` }];
  });
}

function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
