import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { read, root } from '../markdown.ts';
import { generated } from './generated.ts';

const PARTS = ['route types', 'hosts', 'presets', 'chats', 'others', 'clients', 'cases', 'notes'];

describe('docs/llm.md', () => {
  let made: ReadonlyMap<string, string>;
  beforeAll(async () => {
    made = await generated();
    if (process.env['UPDATE_GOLDEN'] === '1')
      writeFileSync(
        join(root, 'docs/llm.md'),
        PARTS.reduce((page, name) => withPart(page, name), read('docs/llm.md')),
      );
  });

  test.each(PARTS)('tells of %s what the code does', (name) => {
    expect(part(read('docs/llm.md'), name)).toBe(made.get(name));
  });

  function withPart(page: string, name: string): string {
    const before = part(page, name);
    return page.replace(`${begin(name)}\n${before}\n${END}`, () => `${begin(name)}\n${made.get(name)}\n${END}`);
  }
});

const END = '<!-- end -->';

function begin(name: string): string {
  return `<!-- from the code: ${name} -->`;
}

function part(page: string, name: string): string {
  const start = page.indexOf(`${begin(name)}\n`);
  const end = page.indexOf(`\n${END}`, start);
  if (start === -1 || end === -1) throw new Error(`docs/llm.md has no part "${name}"`);
  return page.slice(start + begin(name).length + 1, end);
}
