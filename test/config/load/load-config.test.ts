import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ConfigError,
  loadConfig,
  type ConfigIssue,
  type ConfigSource,
  type GatewayConfig,
} from '../../../src/config/index.ts';

const text = (yaml: string): ConfigSource => ({ kind: 'text', text: yaml, name: 'test.yaml' });

async function issuesOf(
  source: ConfigSource,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly ConfigIssue[]> {
  try {
    await loadConfig(source, { env, cpus: 8, directory: '/nowhere' });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}

async function processOf(yaml: string, env: Readonly<Record<string, string>> = {}): Promise<GatewayConfig['process']> {
  return (await loadConfig(text(yaml), { env, cpus: 8 })).config.process;
}

describe('sources', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gw-load-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test('a file that is not there', async () => {
    expect(await issuesOf({ kind: 'file', path: join(directory, 'none.yaml') })).toMatchObject([
      {
        code: 'GW_CONFIG_FILE',
        message: expect.stringContaining('there is no file'),
        hint: expect.stringContaining('-f'),
      },
    ]);
  });

  test('a directory', async () => {
    expect(await issuesOf({ kind: 'file', path: directory })).toMatchObject([
      { message: `${directory} is a directory` },
    ]);
  });

  test('a file that is not text', async () => {
    await writeFile(join(directory, 'binary'), Uint8Array.of(0xff, 0xfe, 0x00));
    expect(await issuesOf({ kind: 'file', path: join(directory, 'binary') })).toMatchObject([
      { message: expect.stringContaining('not UTF-8') },
    ]);
  });

  test('a file that is too large', async () => {
    await writeFile(join(directory, 'large'), '#'.repeat(16 * 1024 * 1024 + 1));
    expect(await issuesOf({ kind: 'file', path: join(directory, 'large') })).toMatchObject([
      { message: expect.stringContaining('larger than 16 MiB') },
    ]);
  });

  test('a file is named and watched, with the files that it refers to', async () => {
    await mkdir(join(directory, 'sub'));
    const path = join(directory, 'sub', 'config.yaml');
    await writeFile(path, 'backends: [{name: a, host: "a:1", policies: {backendTLS: {root: ../missing.pem}}}]');
    expect(await issuesOf({ kind: 'file', path })).toMatchObject([
      { file: path, message: `there is no file ${join(directory, 'missing.pem')}` },
    ]);
    await writeFile(path, 'gateways: {default: {port: 1}}');
    expect((await loadConfig({ kind: 'file', path }, { env: {} })).files).toEqual([path]);
  });

  test('a byte order mark is no harm', async () => {
    const path = join(directory, 'bom.yaml');
    await writeFile(path, '\ufeffgateways: {default: {port: 1}}');
    expect((await loadConfig({ kind: 'file', path }, { env: {} })).config.binds).toHaveLength(1);
  });

  test('standard input, in pieces that cut a character', async () => {
    const bytes = new TextEncoder().encode('gateways: {default: {port: 1}} # é');
    const loaded = await loadConfig(
      { kind: 'stdin', stream: Readable.from([bytes.subarray(0, -1), bytes.subarray(-1)]) },
      { env: {} },
    );
    expect(loaded.config.binds).toHaveLength(1);
    expect(loaded.files).toEqual([]);
  });

  test('standard input that is not text or has no end', async () => {
    expect(await issuesOf({ kind: 'stdin', stream: Readable.from([Uint8Array.of(0xff)]) })).toMatchObject([
      { file: '<stdin>', message: expect.stringContaining('UTF-8') },
    ]);
    const endless = Readable.from(
      (function* zeros() {
        for (;;) yield new Uint8Array(1024 * 1024).fill(32);
      })(),
    );
    expect(await issuesOf({ kind: 'stdin', stream: endless })).toMatchObject([
      { message: 'standard input is larger than 16 MiB' },
    ]);
  });

  test('devices are read once and never watched', async () => {
    const loaded = await loadConfig(
      { kind: 'file', path: '/dev/stdin' },
      { env: {}, readFile: async () => new TextEncoder().encode('{}') },
    );
    expect(loaded.files).toEqual([]);
  });
});

describe('the result', () => {
  test('equal content has an equal revision, other content another', async () => {
    const load = async (yaml: string, env = {}) => (await loadConfig(text(yaml), { env, cpus: 1 })).revision;
    expect(await load('gateways: {a: {port: 1}}')).toBe(await load('gateways: {a: {port: 1}}'));
    expect(await load('gateways: {a: {port: 1}}')).not.toBe(await load('gateways: {a: {port: 2}}'));
    expect(await load('gateways: {a: {port: $P}}', { P: '1' })).not.toBe(
      await load('gateways: {a: {port: $P}}', { P: '2' }),
    );
    expect(await load('')).not.toBe(await load('', { ADMIN_ADDR: 'off' }));
    expect(await load('')).toMatch(/^[0-9a-f]{12}$/);
  });

  test('the content of a referenced file is part of the revision', async () => {
    const yaml =
      'config: {adminAddr: "off"}\nbackends: [{name: a, host: "a:1", policies: {backendTLS: {root: ca.pem}}}]';
    const { readFileSync } = await import('node:fs');
    const pem = readFileSync(new URL('../../golden/config/tls/ca.pem', import.meta.url), 'utf8');
    const load = async (content: string) =>
      (await loadConfig(text(yaml), { env: {}, readFile: async () => new TextEncoder().encode(content) })).revision;
    expect(await load(pem)).not.toBe(await load(`${pem}\n`));
  });

  test('holds the text as written and the value as expanded', async () => {
    const loaded = await loadConfig(text('gateways: {a: {port: $P}}'), { env: { P: '80' } });
    expect(loaded.text).toBe('gateways: {a: {port: $P}}');
    expect(loaded.raw).toEqual({ gateways: { a: { port: 80 } } });
  });
});

describe('places of problems', () => {
  test('lines and columns are those of the file as it was written', async () => {
    const issues = await issuesOf(text('# c\nroutes:\n- name: $LONG_NAME\n  hostnames: [$LONG_NAME, "a b"]\n'), {
      LONG_NAME: 'x',
    });
    expect(issues).toMatchObject([{ path: 'routes[0].hostnames[1]', line: 4, column: 27, length: 5 }]);
  });

  test('a problem inside an alias is told where the anchor stands', async () => {
    const issues = await issuesOf(
      text('gateways: {default: {port: 1}}\nroutes:\n- policies: &p {timeout: {requestTimeout: 1}}\n- policies: *p\n'),
    );
    expect(issues.map(({ path, line }) => [path, line])).toEqual([
      ['routes[0].policies.timeout.requestTimeout', 3],
      ['routes[1].policies.timeout.requestTimeout', 3],
    ]);
  });

  test('whoever writes a text where a map belongs is told what goes into the map', async () => {
    const [issue] = await issuesOf(text('mcp: {targets: [{name: files, stdio: npx -y server-filesystem /srv}]}'));
    expect([issue?.message, issue?.hint]).toEqual([
      'expected a map, found the text "npx -y server-filesystem /srv"',
      'its keys: cmd, args, env, clear_env, clearEnv',
    ]);
  });

  test('control characters of the file do not reach the terminal', async () => {
    const failure = await loadConfig(text('x: "\u001b[2J"'), { env: {} }).catch(String);
    expect(failure).toContain('unknown key');
    expect(failure).not.toContain('\u001b');
  });

  test('one problem gives its code to the error, several a common one', async () => {
    await expect(loadConfig(text('x: 1'), { env: {} })).rejects.toMatchObject({
      code: 'GW_CONFIG_UNKNOWN_KEY',
      exitCode: 1,
    });
    await expect(loadConfig(text('x: 1\ny: 1'), { env: {} })).rejects.toMatchObject({ code: 'GW_CONFIG_INVALID' });
  });
});

describe('the environment over the file', () => {
  const file = 'config: {adminAddr: "127.0.0.1:1", enableIpv6: true, workerThreads: 2, logging: {level: warn}}';

  test.each([
    ['IPV6_ENABLED', 'false', { enableIpv6: false, statsAddr: { kind: 'tcp', hosts: ['0.0.0.0'], port: 15020 } }],
    ['ADMIN_ADDR', 'off', { adminAddr: { kind: 'off' } }],
    ['STATS_ADDR', 'unix:/s', { statsAddr: { kind: 'unix', path: '/s' } }],
    ['READINESS_ADDR', 'localhost:0', { readinessAddr: { kind: 'tcp', hosts: ['127.0.0.1', '::1'], port: 0 } }],
    ['DNS_LOOKUP_FAMILY', 'V6Only', { dns: { lookupFamily: 'V6Only' } }],
    [
      'LOCALITY',
      'eu/eu-1',
      { locality: { region: 'eu', zone: 'eu-1', subzone: '', node: '', cluster: '', network: '' } },
    ],
    ['WORKER_THREADS', '25%', { workerThreads: 2 }],
    ['WORKER_THREADS', '3', { workerThreads: 3 }],
    ['LOG_FORMAT', 'json', { logging: { format: 'json', level: 'warn' } }],
    ['RUST_LOG', 'info,proxy=trace', { logging: { level: 'info,proxy=trace' } }],
    ['CONNECTION_TERMINATION_DEADLINE', '1m', { terminationMaxDeadlineMs: 60_000 }],
    ['CONNECTION_MIN_TERMINATION_DEADLINE', '2s', { terminationMinDeadlineMs: 2000 }],
    ['TERMINATION_GRACE_PERIOD_SECONDS', '30', { terminationMaxDeadlineMs: 25_000 }],
    ['TERMINATION_GRACE_PERIOD_SECONDS', '10', { terminationMaxDeadlineMs: 9000 }],
    ['TERMINATION_GRACE_PERIOD_SECONDS', '1', { terminationMaxDeadlineMs: 1000 }],
  ])('%s=%s', async (name, value, expected) => {
    expect(await processOf(file, { [name]: value })).toMatchObject(expected);
  });

  test('an empty variable is no variable', async () => {
    expect(await processOf(file, { ADMIN_ADDR: '' })).toMatchObject({ adminAddr: { port: 1 } });
  });

  test('threads default to the limit of the container, or to the processors', async () => {
    expect((await processOf('')).workerThreads).toBe(8);
    expect((await processOf('', { CPU_LIMIT: '1.5' })).workerThreads).toBe(2);
    expect((await processOf('config: {workerThreads: 1%}')).workerThreads).toBe(1);
    expect((await processOf('config: {workerThreads: "4"}')).workerThreads).toBe(4);
  });

  test.each([
    'IPV6_ENABLED',
    'ADMIN_ADDR',
    'DNS_LOOKUP_FAMILY',
    'WORKER_THREADS',
    'LOG_FORMAT',
    'RUST_LOG',
    'CONNECTION_TERMINATION_DEADLINE',
    'TERMINATION_GRACE_PERIOD_SECONDS',
    'CPU_LIMIT',
  ])('%s that cannot be read is a problem that names it', async (name) => {
    expect(await issuesOf(text(''), { [name]: '?!' })).toMatchObject([
      { code: 'GW_CONFIG_ENVIRONMENT', path: `environment variable ${name}` },
    ]);
  });
});

describe('a value that may be of several kinds', () => {
  const mirror = (value: string) =>
    text(
      `gateways: {default: {port: 4000}}\nroutes: [{backends: [{host: "a:1"}], policies: {requestMirror: ${value}}}]\n`,
    );

  test.each([
    ['{backend: {host: "b:1"}}', 'routes[0].policies.requestMirror.percentage', 'is required'],
    ['[{percentage: 1}]', 'routes[0].policies.requestMirror[0].backend', 'is required'],
    ['{backend: {}, percentage: 1}', 'routes[0].policies.requestMirror', 'a backend needs exactly one of'],
    ['7', 'routes[0].policies.requestMirror', 'expected a mirror, or a list of mirrors, found the number 7'],
  ])('is told what is wrong with the kind that it is: %s', async (value, path, message) => {
    const issues = await issuesOf(mirror(value));
    expect(issues).toHaveLength(1);
    expect(issues[0]?.path).toContain(path);
    expect(issues[0]?.message).toContain(message);
  });
});

test.each([
  ['accessLog: {add: {"": "1"}}', 'frontendPolicies.accessLog.add[""]'],
  ['tracing: {host: "a:1", attributes: {"": "1"}}', 'frontendPolicies.tracing.attributes[""]'],
])('a field without a name is refused: %s', async (frontend, path) => {
  expect(await issuesOf(text(`frontendPolicies: {${frontend}}\n`))).toMatchObject([
    { path, message: 'expected a name as the key' },
  ]);
});
