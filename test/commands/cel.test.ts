import { describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { golden } from '../golden.ts';
import { gwctl } from './gwctl.ts';

const request = ['--', 'http://shop.example/v1/items?page=2', '-X', 'POST', '-H', 'x-team: blue', '-d', '{"n": 1.5}'];
const vars = JSON.stringify({ jwt: { sub: 'alice', groups: ['users', 'admin'] }, limit: 3 });

describe('cel eval', () => {
  test.each([
    ['"team-red".split("-")[1]', '"red"\n'],
    ['1 + 2u', null],
    [
      '[1, 2u, 1.0, b"a", null, duration("90s"), ip("::1"), type(1)]',
      '[1, 2u, 1.0, b"a", null, duration("90s"), ip("::1"), int]\n',
    ],
    ['request.method + " " + request.uri', '"POST http://shop.example/v1/items?page=2"\n'],
    ['json(request.body).n', '1.5\n'],
    ['request.headers["x-team"] == "blue" && source.address == "127.0.0.1"', 'true\n'],
    ['jwt == null && llm == null', 'true\n'],
    ['request.body', 'b\'{"n": 1.5}\'\n'],
    ['"\\u009b\\u202e"', '"\\u009b\\u202e"\n'],
  ])('%s', async (expression, stdout) => {
    const done = await gwctl(['cel', 'eval', expression, ...request]);
    expect([done.code, done.stdout]).toEqual(stdout === null ? [1, ''] : [0, stdout]);
  });

  test('--explain shows the value of each part', async () => {
    const expression =
      'request.path.startsWith("/v1/") && jwt.groups.exists(g, g == "admin") && (limit > 5 ? limit / 0 : limit) == 3';
    const { code, stdout } = await gwctl(['cel', 'eval', '--explain', expression, '--vars', '-', ...request], {
      input: vars,
    });
    expect(code).toBe(0);
    expect(stdout).toBe(golden('cli/cel-explain.txt', stdout));
    const json = await gwctl(['cel', 'eval', '--explain', '-o', 'json', expression, '--vars', '-', ...request], {
      input: vars,
    });
    expect(json.stdout).toBe(golden('cli/cel-explain-json.txt', json.stdout));
  });

  test('a failure tells where, with exit code 1; in JSON the answer says so', async () => {
    const text = await gwctl(['cel', 'eval', 'true && jwt.sub == "a"']);
    expect([text.code, text.stdout]).toEqual([1, '']);
    expect(text.stderr).toContain('no such key: jwt.sub (line 1, column 9)');
    const json = await gwctl(['cel', 'eval', 'true && jwt.sub == "a"', '-o', 'json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toEqual({
      expression: 'true && jwt.sub == "a"',
      type: null,
      value: null,
      error: {
        message: 'no such key: jwt.sub',
        line: 1,
        column: 9,
        offset: 8,
        hint: `jwt is null here: --vars '{"jwt": {…}}' gives it a value`,
      },
    });
  });

  test.each([
    ['true && jwt.sub == "a"', '        ^', `jwt is null here: --vars '{"jwt": {…}}' gives it a value`],
    ['request.path', '^', 'there is no request: give one behind -- or with --request'],
    ['reqest.path', '^', 'did you mean request?'],
    ['"日本".startWith("日")', '       ^', 'did you mean startsWith?'],
    ['limit > 1', '^', `--vars '{"limit": …}' gives it a value`],
    ['[1, 2].map(x, x / 0)', '              ^', 'the same command with --explain shows the value of each part'],
    ['lists.range(9999).all(a, lists.range(9999).all(b, a + b >= 0))', '^', 'the same command with --explain'],
  ])('%s: a caret at the place, and the way out', async (expression, caret, hint) => {
    const { code, stderr } = await gwctl(['cel', 'eval', expression]);
    expect(code).toBe(1);
    expect(stderr).toContain(`\n\n  ${expression}\n  ${caret}\n\nTry this: ${hint}`);
  });

  test.each([
    ['jwt.sub ==', '  jwt.sub ==\n            ^'],
    ['1 +\n\t(2 * ]', '   (2 * ]\n        ^'],
    [`"${'x'.repeat(100)}" + * + ${'1 + '.repeat(50)}1`, `xxx" + * + 1 + 1`],
    [`${'('.repeat(60)}1`, `((((^`.replace('^', '(')],
    ['', '  \n  ^'],
  ])('%.20j: the caret stands where reading ended', async (expression, shown) => {
    const { code, stderr } = await gwctl(['cel', 'eval', expression]);
    expect([code, stderr.includes(shown), stderr.includes('^\n')]).toEqual([2, true, true]);
  });

  test('in JSON a syntax error has no drawing in it', async () => {
    const { stderr } = await gwctl(['cel', 'eval', '1 +', '-o', 'json']);
    expect(JSON.parse(stderr).error.message).toBe(
      'not an expression: expected an expression, found the end (line 1, column 4)',
    );
  });

  test('what is no expression is wrong usage', async () => {
    const { code, stderr } = await gwctl(['cel', 'eval', 'jwt.sub ==']);
    expect(code).toBe(2);
    expect(stderr).toContain('expected an expression, found the end (line 1, column 11)');
  });

  test('a request is an HTTP message or JSON', async () => {
    const expression =
      '[request.method, request.host, request.path, request.headers.raw()["x"].join("+"), string(request.body)]';
    const message = 'PUT /a?b HTTP/1.1\nHost: h.example:80\nX: 1\nx: é\n\nbody\n';
    expect((await gwctl(['cel', 'eval', expression, '--request', '-'], { input: message })).stdout).toBe(
      '["PUT", "h.example:80", "/a", "1+é", "body\\n"]\n',
    );
    const json = JSON.stringify({
      method: 'PUT',
      url: 'https://h.example/a',
      headers: { X: ['1', '2'] },
      body: { a: 1 },
    });
    expect((await gwctl(['cel', 'eval', expression, '--request', '-'], { input: json })).stdout).toBe(
      '["PUT", "h.example", "/a", "1+2", "{\\"a\\":1}"]\n',
    );
  });

  test.each([
    ['garbage', 'the first line is no request line'],
    ['GET / HTTP/1.1\nno header', 'is no header line'],
    ['{"url": 1}', '`method` and `url` are texts'],
    ['{"url": "/", "headers": [1]}', '`headers` is no object'],
    ['{"url": "/", "header": {}}', 'header is none of'],
    ['{"url"', 'is not JSON'],
    ['', 'the first line is no request line'],
  ])('%j is no request', async (input, message) => {
    const { code, stderr } = await gwctl(['cel', 'eval', 'true', '--request', '-'], { input });
    expect([code, stderr.includes(message)]).toEqual([2, true]);
  });

  test('variables are an object, and only one input is stdin', async () => {
    expect((await gwctl(['cel', 'eval', 'a', '--vars', '-'], { input: '[1]' })).stderr).toContain(
      'holds no JSON object',
    );
    expect((await gwctl(['cel', 'eval', '-', '--vars', '-'], { input: '1' })).code).toBe(2);
    expect((await gwctl(['cel', 'eval', '-'], { input: '1 +\n 1\n' })).stdout).toBe('2\n');
    expect((await gwctl(['cel', 'eval', 'a', '--vars', '/none'])).code).toBe(3);
    expect((await gwctl(['cel', 'eval', 'a + 1', '--vars', '{"a": 1}'])).stdout).toBe('2\n');
    expect((await gwctl(['cel', 'eval', 'a', '--vars', '{"a": '])).stderr).toContain('--vars is not JSON');
  });

  test('the functions of a configuration can be called', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-cel-'));
    const file = join(directory, 'config.yaml');
    try {
      writeFileSync(file, 'config:\n  customFunctions: "isTeam(t) { request.headers[\\"x-team\\"] == t }"\n');
      expect((await gwctl(['cel', 'eval', 'isTeam("blue")', '-f', file, ...request])).stdout).toBe('true\n');
      expect((await gwctl(['cel', 'eval', 'isTeam("blue")', ...request])).stderr).toContain(
        'there is no function isTeam',
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
