import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../src/config/index.ts';
import { demoCurls } from '../../src/demo/config.ts';
import { blocks, codeSpans, pages, prose, read, root } from './markdown.ts';

const FOLDERS = /^(\.ci|bench|bin|commands|docs|examples|proxy|schema|src|test|ui)\//;

describe.each(pages())('%s', (page) => {
  const text = read(page);

  test('names files that exist', () => {
    const named = codeSpans(text).filter((span) => FOLDERS.test(span) && !/[\s<>…]/.test(span));
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('links to pages and headings that exist', () => {
    const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !/^https?:/.test(link)).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
  });

  test('shows configurations that load', async () => {
    const configurations = blocks(text).filter(({ kind }) => kind === 'yaml');
    const refused = await Promise.all(configurations.map(({ text: yaml, line }) => problemOf(yaml, line)));
    expect(refused.filter((problem) => problem !== undefined)).toEqual([]);
  });

  test('keeps its lines within reach of a reader', () => {
    const long = prose(text)
      .split('\n')
      .filter((line) => line.length > 160 && !line.startsWith('|'));
    expect(long).toEqual([]);
  });
});

describe('README.md', () => {
  const text = read('README.md');

  test('begins with the two commands', () => {
    const first = blocks(text)[0]?.text ?? '';
    expect(first).toMatch(/^npm start\b.*\nnpm test\b.*\n$/);
    const { scripts } = JSON.parse(read('package.json'));
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test', 'build']));
    expect(read('.ci/run')).toContain('npm test');
  });

  test('has the lines that the demo prints', () => {
    for (const curl of demoCurls(4000)) expect(text).toContain(`\n${curl}\n`);
  });

  test('shows the capture of the trace viewer', () => {
    expect(text).toContain(read('docs/trace-viewer.txt').trimEnd());
    expect(read('docs/tour.md')).toContain(read('docs/trace-viewer.txt').trimEnd());
  });

  test('shows a configuration of twelve lines or less', () => {
    const configuration = blocks(text).find(({ kind }) => kind === 'yaml');
    expect(configuration?.text.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || headings(read(target)).includes(anchor);
}

/** Headings as their anchors are written. */
function headings(markdown: string): readonly string[] {
  return prose(markdown)
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    );
}

/** Certificates that a page names are there for the loader. */
async function problemOf(yaml: string, line: number): Promise<string | undefined> {
  const readFile = async (path: string): Promise<Uint8Array> =>
    Buffer.from(read(`test/fixtures/tls/${path.includes('key') ? 'a.key' : 'a.crt'}`));
  try {
    await loadConfig({ kind: 'text', text: yaml, name: `the block of line ${line}` }, { env: {}, readFile });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
