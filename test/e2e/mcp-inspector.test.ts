/** The inspector's command line, a client that people debug their servers with, sees through the gateway what it sees directly. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { startEverything, type RunningServer } from '../mcp/everything.ts';
import { Cleanup, type RunningGateway, startGateway } from './gateway.ts';

const build = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/inspector-cli/build');
const PATIENCE_MS = 30_000;

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let server: RunningServer;
let gateway: RunningGateway;
beforeAll(async () => {
  server = await startEverything();
  const everything = `{name: everything, mcp: {host: "${server.url}"}}`;
  const program = join(build, '../../server-everything/dist/index.js');
  const stdio = `{name: program, stdio: {cmd: "${process.execPath}", args: ["${program}", stdio]}}`;
  gateway = await startGateway(
    `binds:
- {port: 80, listeners: [{routes: [{backends: [{mcp: {targets: [${everything}]}}]}]}]}
- {port: 81, listeners: [{routes: [{backends: [{mcp: {targets: [${everything}, ${stdio}]}}]}]}]}
- port: 82
  listeners:
  - routes:
    - policies: {apiKey: {keys: [{key: open-sesame}]}}
      backends: [{mcp: {targets: [${everything}]}}]
`,
    { threads: 2 },
  );
});
afterAll(async () => {
  await gateway.close();
  await server.close();
});

interface Said {
  readonly code: number;
  /** What it prints, as data; null when it fails. */
  readonly result: unknown;
  readonly complaint: string;
}

function inspected(url: string, args: readonly string[]): Promise<Said> {
  const { promise, resolve, reject } = Promise.withResolvers<Said>();
  // The inspector finds its own version only from there.
  const options = { cwd: build, timeout: PATIENCE_MS };
  execFile(process.execPath, ['index.js', url, ...args], options, (error, stdout, stderr) => {
    const complaint = stderr.trim();
    if (error === null) resolve({ code: 0, result: JSON.parse(stdout) as unknown, complaint }); // it prints JSON
    else if (typeof error.code === 'number') resolve({ code: error.code, result: null, complaint });
    else reject(new Error(`the inspector does not end: ${stdout}${stderr}`));
  });
  return promise;
}

const at = (port: number, path = '/mcp'): string => `http://127.0.0.1:${gateway.port(port)}${path}`;
const OLDER = ['--transport', 'sse'];
const NEWER = ['--transport', 'http'];

/** What is asked of one server, with the names that it has itself. */
const QUESTIONS = [
  ['--method', 'tools/list'],
  ['--method', 'tools/call', '--tool-name', 'get-sum', '--tool-arg', 'a=19', '--tool-arg', 'b=23'],
  ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=Grüße, "quoted" and = too'],
  ['--method', 'tools/call', '--tool-name', 'get-structured-content', '--tool-arg', 'location=Chicago'],
  ['--method', 'tools/call', '--tool-name', 'get-annotated-message', '--tool-arg', 'messageType=error'],
  ['--method', 'tools/call', '--tool-name', 'get-sum', '--tool-arg', 'a=many'],
  ['--method', 'resources/list'],
  ['--method', 'resources/templates/list'],
  ['--method', 'resources/read', '--uri', 'demo://resource/static/document/architecture.md'],
  ['--method', 'prompts/list'],
  ['--method', 'prompts/get', '--prompt-name', 'simple-prompt'],
  [
    '--method',
    'prompts/get',
    '--prompt-name',
    'args-prompt',
    '--prompt-args',
    'city=Paris',
    '--prompt-args',
    'state=TX',
  ],
  ['--method', 'logging/setLevel', '--log-level', 'error'],
].map((question) => [question.slice(1).join(' '), question] as const);

describe('the inspector sees one server', () => {
  test.each(QUESTIONS)('as it is: %s', async (_name, question) => {
    const [direct, newer, older] = await Promise.all([
      inspected(server.url, question),
      inspected(at(80), [...NEWER, ...question]),
      inspected(at(80, '/sse'), [...OLDER, ...question]),
    ]);
    expect(newer).toEqual(direct);
    expect(older).toEqual(direct);
    expect([direct.code, direct.complaint]).toEqual([0, '']);
  });
});

describe('the inspector sees two servers, one of them a program,', () => {
  test.each(['/mcp', '/sse'])('under the names of both at %s', async (path) => {
    const ask = async (...question: string[]): Promise<unknown> => (await inspected(at(81, path), question)).result;
    // `as`: of a list of tools.
    const { tools } = (await ask('--method', 'tools/list')) as { readonly tools: readonly { readonly name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['everything_echo', 'program_echo']));
    const message = ['--tool-arg', 'message=hi'];
    for (const name of ['everything_echo', 'program_echo'])
      expect(await ask('--method', 'tools/call', '--tool-name', name, ...message)).toEqual({
        content: [{ type: 'text', text: 'Echo: hi' }],
      });
    const uri = 'program+demo://resource/static/document/architecture.md';
    expect(await ask('--method', 'resources/read', '--uri', uri)).toMatchObject({ contents: [{ uri }] });
    expect(await ask('--method', 'prompts/get', '--prompt-name', 'program_simple-prompt')).toMatchObject({
      messages: [{ role: 'user' }],
    });
  });

  test('and is told what neither has', async () => {
    const missing = await inspected(at(81), ['--method', 'tools/call', '--tool-name', 'everything_nothing']);
    expect([missing.code, missing.result]).not.toEqual([0, null]);
    const nobody = await inspected(at(81), ['--method', 'tools/call', '--tool-name', 'nobody_echo']);
    expect(nobody.code).toBe(1);
    expect(nobody.complaint).toContain('nobody');
  });
});

describe('the inspector with a header', () => {
  const key = ['--header', 'authorization: Bearer open-sesame'];

  test.each(['/mcp', '/sse'])('is let in at %s', async (path) => {
    const { code, result } = await inspected(at(82, path), ['--method', 'prompts/list', ...key]);
    expect([code, Object.keys(Object(result))]).toEqual([0, ['prompts']]);
  });

  test.each([
    ['/mcp', 'no API Key found'],
    // An event source tells no bodies.
    ['/sse', '401'],
  ])('is told why not at %s', async (path, why) => {
    const { code, complaint } = await inspected(at(82, path), ['--method', 'prompts/list']);
    expect(code).toBe(1);
    expect(complaint).toContain(why);
  });
});
