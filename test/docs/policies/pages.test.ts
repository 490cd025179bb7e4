import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, describe, expect, test } from '@jest/globals';

import { fixturePath } from '../../e2e/clients.ts';
import { Cleanup, startGateway } from '../../e2e/gateway.ts';
import { read, root } from '../markdown.ts';
import { hasExample, readExample, type Try } from './example.ts';
import { page } from './page.ts';
import { peers } from './peers.ts';
import { policies } from './places.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** What examples need of the environment. */
const env = { OIDC_COOKIE_SECRET: '0123456789abcdef'.repeat(4), SHOP_CA: fixturePath('ca.crt') };

const known = policies();
const names = [...known.keys()];
const run = promisify(execFile);

describe('docs/policies', () => {
  test('has an example for every policy', () => {
    expect(names.filter((name) => !hasExample(name))).toEqual([]);
  });

  test('has no page of a policy that does not exist', () => {
    const files = readdirSync(join(root, 'docs/policies')).map((file) => file.replace(/\.md$/, ''));
    expect(files.filter((name) => !known.has(name))).toEqual([]);
  });

  test('is listed by docs/policies.md, whole', () => {
    const listed = [...read('docs/policies.md').matchAll(/\(policies\/(\w+)\.md\)/g)].map(([, name]) => name);
    expect([...new Set(listed)].toSorted()).toEqual(names.toSorted());
  });

  test.each(names.filter(hasExample))('%s is described by its schema and its example', (name) => {
    const place = known.get(name);
    if (place === undefined) throw new Error(`${name} is no policy`);
    const path = join(root, `docs/policies/${name}.md`);
    const text = page(name, place, readExample(name));
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
    expect(existsSync(path) ? readFileSync(path, 'utf8') : '(not written: UPDATE_GOLDEN=1)').toBe(text);
  });

  test.each(names.filter(hasExample))('the example of %s does what it says', async (name) => {
    const { yaml, tries } = readExample(name);
    const gateway = cleanup.add(await startGateway(await onFreePorts(yaml), { env }));
    for (const each of tries) await check(each, (port) => gateway.port(placeholder(port)));
  });
});

/** Ports of listeners below 1024 are placeholders of the harness; those of peers are started. */
async function onFreePorts(yaml: string): Promise<string> {
  let text = yaml.replaceAll(/\bport: (8\d{3})\b/g, (_all, port: string) => `port: ${placeholder(Number(port))}`);
  for (const [port, start] of Object.entries(peers)) {
    if (!new RegExp(`\\b${port}\\b`).test(text)) continue;
    const free = String(await start(cleanup));
    text = text.replaceAll(`localhost:${port}`, `127.0.0.1:${free}`).replaceAll(new RegExp(`\\b${port}\\b`, 'g'), free);
  }
  return text;
}

function placeholder(port: number): number {
  return port - 7900;
}

async function check({ command, status, headers, body }: Try, portOf: (port: number) => number): Promise<void> {
  const words = command.replaceAll(/localhost:(8\d{3})/g, (_all, port: string) => `127.0.0.1:${portOf(Number(port))}`);
  const { stdout } = await run('sh', ['-c', `curl -sSi --max-time 10 ${words}`], { timeout: 15_000 });
  const answer = `curl ${command}\n${stdout}`;
  expect(answer).toContain(`\nHTTP/1.1 ${status}`);
  for (const [name, value] of headers) expect(answer.toLowerCase()).toContain(`\r\n${name}: ${value}`.toLowerCase());
  expect(answer).toContain(body ?? '');
}
