import type { Example } from './example.ts';
import { descriptionOf, keysOf, type Key } from './keys.ts';
import type { Place } from './places.ts';

/** The page of a policy: what it does, where it stands, its keys, an example that works. */
export function page(name: string, { schema, places }: Place, example: Example): string {
  return [
    `# ${name}`,
    '',
    descriptionOf(schema),
    '',
    `Stands on: ${places.join(', ')}. Its place among the others: [the order of policies](../policies.md).`,
    '',
    '## Keys',
    '',
    ...table(keysOf(schema)),
    '',
    '## Example',
    '',
    example.intro,
    '',
    '```yaml',
    example.yaml,
    '```',
    '',
    '```console',
    ...example.tries.flatMap(({ command, status, headers, body }) => [
      `$ curl -i ${command}`,
      `HTTP/1.1 ${status}`,
      ...headers.map(([header, value]) => `${header}: ${value}`),
      ...(body === undefined ? [] : [body]),
    ]),
    '```',
    '',
    `The file is [examples/policies/${name}.yaml](../../examples/policies/${name}.yaml).`,
    '',
  ].join('\n');
}

function table(keys: readonly Key[]): string[] {
  if (keys.length === 0) return ['It has none.'];
  return ['| Key | Value | Default | |', '|---|---|---|---|', ...keys.map(row)];
}

function row({ name, type, required, default: fallback, description }: Key): string {
  const cells = [`\`${name}\``, type, required ? 'required' : fallback, description];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
