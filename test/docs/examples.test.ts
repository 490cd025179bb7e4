import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Browser } from '../e2e/openid.ts';
import { read, root, section, table } from './markdown.ts';
import { freePorts, type Ports, Walk } from './walk.ts';

const EXAMPLE_LIMIT_MS = 60_000;

const launcher = fileURLToPath(new URL('../commands/from-source.ts', import.meta.url));
const GWCTL = `gwctl() { "${process.execPath}" --no-warnings "${launcher}" "$@"; }`;
const names = readdirSync(join(root, 'examples')).filter(
  (name) => statSync(join(root, 'examples', name)).isDirectory() && name !== 'policies',
);

test('examples/README.md lists every example', () => {
  const listed = [...read('examples/README.md').matchAll(/\]\(([\w-]+)\/README\.md\)/g)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual([...names, 'policies'].toSorted());
});

test('examples/policies/README.md lists the peers that its files name', () => {
  const files = readdirSync(join(root, 'examples/policies')).filter((file) => file.endsWith('.yaml'));
  const text = files.map((file) => read(`examples/policies/${file}`)).join('\n');
  const named = [...text.matchAll(/\b(9\d{3}|4317)\b/g)].map(([port]) => port);
  const listed = table(read('examples/policies/README.md')).flatMap(([ports = '']) => ports.split(', '));
  expect(listed.toSorted()).toEqual([...new Set(named)].toSorted());
});

describe('the example', () => {
  let folder: string;
  let ports: Ports;
  let walk: Walk | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gwctl-example-'));
    ports = await freePorts();
  });

  afterEach(() => {
    walk?.close();
    walk = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  // What is followed throws where the program says something else.
  test.each(names)(
    '%s does what its README says',
    async (name) => {
      walk = new Walk(clone(folder, ports), folder, ports);
      await walk.shell.run(GWCTL);
      await walk.follow(`examples/${name}/README.md`);
    },
    EXAMPLE_LIMIT_MS,
  );

  test(
    'login-with-openid lets a browser log in',
    async () => {
      walk = new Walk(clone(folder, ports), folder, ports);
      await walk.shell.run(GWCTL);
      await walk.type(section(read('examples/login-with-openid/README.md'), 'Start'));
      const browser = new Browser();
      const login = await browser.open(`http://localhost:${ports.of(8080)}/cart`);
      const page = await browser.logIn(login, 'ann');
      expect(page.body).toContain(' GET /cart\n');
      expect(page.body).toContain('\nx-user: ann\nx-email: ann@example.test\n');
      expect(page.body).not.toContain('cookie');
    },
    EXAMPLE_LIMIT_MS,
  );

  test.each(names)('%s names its files in its README', (name) => {
    const text = read(`examples/${name}/README.md`);
    const files = readdirSync(join(root, 'examples', name)).filter((file) => !['README.md', 'certs'].includes(file));
    expect(files.filter((file) => !text.includes(file))).toEqual([]);
  });
});

/** What examples need of a clone, with free ports. */
function clone(folder: string, ports: Ports): string {
  const place = join(folder, 'clone');
  cpSync(join(root, 'examples'), join(place, 'examples'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  cpSync(join(root, 'package.json'), join(place, 'package.json'));
  for (const file of readdirSync(join(place, 'examples'), { recursive: true, encoding: 'utf8' })) {
    const path = join(place, 'examples', file);
    if (/\.(?:yaml|js)$/.test(file)) writeFileSync(path, ports.into(readFileSync(path, 'utf8')));
  }
  return place;
}
