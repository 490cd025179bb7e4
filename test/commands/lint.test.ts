import { describe, expect, test } from '@jest/globals';

import { gwctl } from './gwctl.ts';

const ROUTE = 'gateways: {default: {port: 8080}}\nroutes:\n';
const WARNING = `${ROUTE}- {policies: {apiKey: {keys: [{key: k1}]}}, backends: [{host: "127.0.0.1:1"}]}\n`;
const ERROR = `${ROUTE}- policies: {authorization: {rules: ['jwt.sub == "a"']}}\n  backends: [{host: "127.0.0.1:1"}]\n`;
const INFO = `${ROUTE}- {backends: [{host: "127.0.0.1:1"}]}\nbackends: [{name: b, host: "127.0.0.1:1"}]\n`;
const CLEAN = `${ROUTE}- {backends: [{host: "127.0.0.1:1"}]}\n`;

const lint = (input: string, ...words: string[]) => gwctl(['lint', '-f', '-', ...words], { input });

describe('gwctl lint', () => {
  test('names place, code and way out, and ends with 6', async () => {
    const { code, stdout, stderr } = await lint(ERROR);
    expect(code).toBe(6);
    expect(stdout).toMatch(/^<stdin>:3:38: error GW_LINT_UNSET_VARIABLE: `jwt` is read, /);
    expect(stdout).toContain('     Try: add `jwtAuth` to the same gateway or route');
    expect(stdout).toMatch(/\n1 error\n$/);
    expect(stderr).toBe('');
  });

  test('says when there is nothing', async () => {
    expect(await lint(CLEAN)).toEqual({ code: 0, stdout: '', stderr: 'nothing found\n' });
    expect(await lint(CLEAN, '-o', 'json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  });

  test.each([
    [INFO, [], 0],
    [INFO, ['--threshold', 'info'], 6],
    [WARNING, [], 6],
    [WARNING, ['--threshold', 'error'], 0],
    [WARNING, ['--ignore', 'GW_LINT_PLAIN_SECRET'], 0],
    [ERROR, ['--threshold', 'error'], 6],
    [ERROR, ['--threshold', 'never'], 0],
  ])('counts from the threshold on: %# %j', async (text, words, code) => {
    expect((await lint(text, ...words)).code).toBe(code);
  });

  test('gives the same facts as JSON and YAML', async () => {
    const { code, stdout } = await lint(WARNING, '-o', 'json');
    expect(code).toBe(6);
    expect(JSON.parse(stdout)).toEqual([
      {
        code: 'GW_LINT_PLAIN_SECRET',
        severity: 'warning',
        message: expect.stringContaining('`key`'),
        hint: expect.stringContaining('keyHash'),
        path: 'routes[0].policies.apiKey.keys[0].key',
        file: '<stdin>',
        line: 3,
        column: 37,
      },
    ]);
    expect((await lint(WARNING, '-o', 'yaml')).stdout).toContain('- code: GW_LINT_PLAIN_SECRET\n');
  });

  test('never prints the secrets that it finds', async () => {
    const text = WARNING.replace('k1', 'hunter2');
    for (const words of [[], ['-o', 'json']]) expect((await lint(text, ...words)).stdout).not.toContain('hunter2');
  });

  test.each([
    ['gateways: {default: {port: 99999}}', [], 1, 'port'],
    [CLEAN, ['--ignore', 'GW_LINT_NOTHING'], 2, 'there is no finding GW_LINT_NOTHING'],
    [CLEAN, ['--threshold', 'loud'], 2, 'loud'],
  ])('says what is wrong: %# %j', async (text, words, code, message) => {
    const answer = await lint(text, ...words);
    expect([answer.code, answer.stdout]).toEqual([code, '']);
    expect(answer.stderr).toContain(message);
  });

  test('needs a file', async () => {
    expect((await gwctl(['lint'])).code).toBe(2);
    expect((await gwctl(['lint', '-f', 'nowhere.yaml'])).code).toBe(3);
  });
});
