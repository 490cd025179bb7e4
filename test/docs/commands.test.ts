import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

import { blocks, codeSpans, pages, read, root } from './markdown.ts';

/** Spellings that leave `proxy` out. */
const SHORT = /^(config|trace|profile)$/;

describe.each([...pages()])('%s', (page) => {
  test('names commands that exist', () => {
    const text = read(page);
    const lines = blocks(text)
      .filter(({ kind }) => kind === 'console' || kind === 'sh')
      .flatMap(({ text: block }) => block.split('\n').map((line) => line.replace(/^\$ /, '')));
    const named = [...codeSpans(text), ...lines].flatMap((span) => /(?:^|\| )(gwctl [a-z].*)/.exec(span)?.[1] ?? []);
    expect(named.filter((command) => !exists(command.split(' ').slice(1)))).toEqual([]);
  });
});

/** Whether the first words are the path of a command. */
function exists(words: readonly string[]): boolean {
  const end = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith('-'));
  const path = end === -1 ? words : words.slice(0, end);
  const full = SHORT.test(path[0] ?? '') ? ['proxy', ...path] : path;
  return full.some((_, at) => existsSync(join(root, 'commands', `${join(...full.slice(0, at + 1))}.ts`)));
}
