import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Cleanup, startGateway } from '../e2e/gateway.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

const CONFIG = `
gateways: {default: {port: 8080}}
routes:
- name: cart
  hostnames: [shop.example]
  matches: [{path: {pathPrefix: /cart}, method: POST, headers: [{name: x-team, value: {exact: red}}]}]
  policies:
    authorization: {rules: [{require: 'string(request.body) == "open sesame"'}]}
  backends: [{host: "127.0.0.1:9000"}]
- name: old
  hostnames: [shop.example]
  matches: [{path: {exact: /old}}]
  policies: {requestRedirect: {path: {full: /new}, status: 301}}
`;

const cleanup = new Cleanup();
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
  writeFileSync(join(folder, 'config.yaml'), CONFIG);
});
afterEach(async () => {
  await cleanup.run();
  rmSync(folder, { recursive: true });
});

const explain = (words: readonly string[], input?: string) =>
  gwctl(['explain', '-f', 'config.yaml', ...words], { cwd: folder, ...(input === undefined ? {} : { input }) });

describe('gwctl explain -f', () => {
  test("takes the request in curl's words", async () => {
    const words = ['--', 'http://shop.example/cart/1', '-X', 'POST', '-H', 'x-team: red', '-d', 'open sesame'];
    const { code, stdout, stderr } = await explain(words);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('route     gateway/default/default/cart\n');
    expect(stdout).toMatch(/forwarded to 127\.0\.0\.1:9000\n$/);
  });

  test('takes the body from a file and from stdin', async () => {
    writeFileSync(join(folder, 'body'), 'open sesame');
    const request = ['--', 'http://shop.example/cart/1', '-H', 'x-team: red', '--data-binary'];
    expect((await explain([...request, '@body'])).stdout).toContain('forwarded to');
    expect((await explain([...request, '@-'], 'open sesame')).stdout).toContain('forwarded to');
    expect((await explain([...request, '@-'], 'open wheat')).stdout).toMatch(
      /x authorization +denied: a require rule does not hold[^]*string\(request\.body\) is "open wheat"/,
    );
  });

  test('takes the configuration from stdin, but not the body as well', async () => {
    const words = ['explain', '-f', '-', '--', 'http://shop.example/old'];
    const found = await gwctl(words, { input: CONFIG });
    expect(found.stdout).toContain('301 from a policy, location http://shop.example/new');
    const twice = await gwctl([...words, '-d', '@-'], { input: CONFIG });
    expect([twice.code, twice.stdout]).toEqual([2, '']);
    expect(twice.stderr).toContain('stdin');
  });

  test('names, for each route that lost, the first thing that did not match', async () => {
    const { code, stdout } = await explain(['--', 'http://shop.example/cart', '-X', 'POST', '-H', 'x-team: blue']);
    expect(code).toBe(0);
    expect(stdout).toContain('gateway/default/default/cart: header x-team red, but is blue\n');
    expect(stdout).toContain('gateway/default/default/old: path exact /old, but is /cart\n');
    expect(stdout).toContain('404 from the gateway (NotFound: route not found)');
    const foreign = await explain(['--', 'http://other.example/cart']);
    expect(foreign.stdout).toContain('hostname shop.example, but is other.example');
  });

  test('gives the same facts as JSON and YAML', async () => {
    const words = ['--', 'http://shop.example/old'];
    const json = await explain(['-o', 'json', ...words]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      bind: 'bind/8080',
      gateway: 'default/default',
      listener: 'default',
      route: 'gateway/default/default/old',
      policies: [{ kind: 'request_redirect', outcome: 'applied', on: 'request', rules: [] }],
      answer: { by: 'policy', status: 301 },
    });
    expect((await explain(['-o', 'yaml', ...words])).stdout).toContain('by: policy\n');
  });

  test.each([
    [[], 'there is no request behind --', 2],
    [['--'], 'there is no request behind --', 2],
    [['--', '-X', 'POST'], 'URL', 2],
    [['--', 'ftp://shop.example/'], 'ftp', 2],
    [['--', 'http://shop.example/', '-H', 'no colon'], 'no colon', 2],
    [['--', 'http://shop.example/', '-H', 'bad name: x'], 'bad name', 2],
    [['--', 'http://shop.example/', '-d', '@missing'], 'missing', 3],
    [['--', 'http://shop.example/', '--no-such-option'], 'no-such-option', 2],
    [['--port', '9', '--', 'http://shop.example/'], 'nothing listens on port 9', 2],
    [['--', 'https://shop.example/'], 'nothing listens for https', 2],
    [['--from', 'nowhere', '--', 'http://shop.example/'], '"nowhere" is not an address', 2],
    [['-o', 'table', '--', 'http://shop.example/'], 'table', 2],
  ])('%j says what is wrong', async (words, message, code) => {
    const answer = await explain(words);
    expect([answer.code, answer.stdout]).toEqual([code, '']);
    expect(answer.stderr).toContain(message);
  });

  test('says what is wrong with a configuration as validate does', async () => {
    writeFileSync(join(folder, 'config.yaml'), 'gateways: {default: {port: 99999}}');
    const { code, stderr } = await explain(['--', 'http://shop.example/']);
    expect([code, stderr.includes('config.yaml:1')]).toEqual([1, true]);
    expect((await gwctl(['explain', '-f', 'nowhere.yaml', '--', 'http://a/'], { cwd: folder })).code).toBe(3);
  });
});

describe('gwctl explain of a running proxy', () => {
  test('asks its admin interface', async () => {
    const gateway = cleanup.add(await startGateway(CONFIG.replace('port: 8080', 'port: 80')));
    const address = gateway.admin.replace('http://', '');
    const { code, stdout } = await gwctl(['explain', '--address', address, '--', 'http://shop.example/old']);
    expect(code).toBe(0);
    expect(stdout).toContain('301 from a policy');
    const wrong = await gwctl(['explain', '--address', address, '--port', '9', '--', 'http://shop.example/old']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('nothing listens on port 9');
  });

  test('says when there is none', async () => {
    const child = startGwctl(['explain', '--address', '127.0.0.1:1', '--', 'http://shop.example/']);
    const { code, stderr } = await finished(child);
    expect(code).toBe(4);
    expect(stderr).toContain('127.0.0.1:1');
  });
});
