import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of a page. */
export interface Block {
  /** What stands behind the fence: `console`, `yaml`, … */
  readonly kind: string;
  readonly text: string;
  /** Name of the file to save the block as, from a comment `<!-- file: name -->` in front of it. */
  readonly file: string | undefined;
  readonly line: number;
}

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The pages that people read, without those that a program writes. */
export function pages(): readonly string[] {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'cli.md');
  const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' });
  return [
    'README.md',
    ...examples.filter((name) => name.endsWith('.md')).map((name) => `examples/${name}`),
    ...docs.map((name) => `docs/${name}`),
  ];
}

export function blocks(markdown: string): readonly Block[] {
  const found: Block[] = [];
  const lines = markdown.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const kind = /^```(\S+)/.exec(lines[at] ?? '')?.[1];
    if (kind === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`the block of line ${at + 1} has no end`);
    const file = /^<!-- file: (\S+) -->$/.exec(lines[at - 1] ?? '')?.[1];
    found.push({ kind, file, line: at + 1, text: `${lines.slice(at + 1, end).join('\n')}\n` });
    at = end;
  }
  return found;
}

/** The page without its fenced blocks. */
export function prose(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```$/gm, '');
}

/** What stands in backticks in the prose. */
export function codeSpans(markdown: string): readonly string[] {
  return [...prose(markdown).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** The part of a page under a heading, up to the next heading of the same rank or above. */
export function section(markdown: string, heading: string): string {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line.startsWith('#'));
  if (start === -1) throw new Error(`there is no heading "${heading}"`);
  const rank = lines[start]?.indexOf(' ') ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= rank);
  return rest.slice(0, end === -1 ? undefined : end).join('\n');
}

/** The rows of the first table of a text, cells without backticks. */
export function table(markdown: string): readonly (readonly string[])[] {
  const lines = markdown.split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const rest = start === -1 ? [] : lines.slice(start);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(2, end === -1 ? undefined : end).map((row) =>
    row
      .slice(1, row.lastIndexOf('|'))
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|')),
  );
}
