import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigError, loadConfig } from '../../../src/config/index.ts';

/** Loads and gives the error, or nothing. Anything but a ConfigError fails the test. */
async function failure(text: string): Promise<ConfigError | undefined> {
  try {
    await loadConfig(
      { kind: 'text', text, name: 'fuzz.yaml' },
      { env: { HOME: '/h' }, cpus: 1, directory: '/nowhere' },
    );
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

const KEYS = [
  'config',
  'gateways',
  'routes',
  'tcpRoutes',
  'binds',
  'routeGroups',
  'backends',
  'policies',
  'frontendPolicies',
  'llm',
  'services',
  'workloads',
  'default',
  'port',
  'protocol',
  'tls',
  'cert',
  'key',
  'listeners',
  'name',
  'hostname',
  'hostnames',
  'matches',
  'path',
  'exact',
  'regex',
  'headers',
  'value',
  'backend',
  'host',
  'service',
  'weight',
  'target',
  'policy',
  'timeout',
  'requestTimeout',
  'retry',
  'codes',
  'directResponse',
  'body',
  'requestMirror',
  'http',
  'mode',
  '__proto__',
  'constructor',
  'toString',
  '<<',
  '',
];
const VALUES = [
  'HTTP',
  'TLS',
  'default',
  '/',
  '(',
  '1s',
  'a:1',
  '[::1]:2',
  'n/s',
  'unix:/x',
  '*',
  4000,
  0,
  -1,
  1.5,
  1e308,
  true,
  null,
  [],
  {},
  '',
];

describe('the loader', () => {
  test('answers any text with a configuration or a ConfigError', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        await failure(text);
      }),
      { numRuns: 300 },
    );
  });

  test('answers any text of YAML pieces with a configuration or a ConfigError', async () => {
    const pieces = fc.constantFrom(
      'a',
      ': ',
      '\n',
      '  ',
      '- ',
      '&x ',
      '*x',
      '<<',
      '? ',
      '| ',
      '> ',
      '"',
      "'",
      '#',
      '{',
      '}',
      '[',
      ']',
      ',',
      '!!t ',
      '%',
      '---\n',
      '...',
      '\t',
      '$',
      '${',
      '~/',
      '\r',
      '\u0000',
      '\ufeff',
      'routes',
      'port',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 60 }), async (parts) => {
        await failure(parts.join(''));
      }),
      { numRuns: 500 },
    );
  });

  test('answers any tree of known keys and odd values with a configuration or a ConfigError that has places', async () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(...VALUES),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...KEYS), tie('tree'), { maxKeys: 5 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const error = await failure(stringify(value));
        for (const issue of error?.issues ?? []) expect(issue.line).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  test('takes a text of nested aliases for an attack, quickly', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level += 1)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    const error = await failure(`llm: {${lines.join(', ')}}`);
    expect(error?.issues[0]).toMatchObject({
      code: 'GW_CONFIG_SYNTAX',
      message: expect.stringContaining('aliases make this more than'),
    });
  });

  test('uses one anchor as often as a large file needs', async () => {
    const routes = Array.from(
      { length: 500 },
      (_, index) => `- {name: r${index}, policies: *p, backends: [{host: "a:1"}]}`,
    );
    const text = `gateways: {default: {port: 1}}\nroutes:\n- {policies: &p {timeout: {requestTimeout: 1s}}}\n${routes.join('\n')}\n`;
    expect(await failure(text)).toBeUndefined();
  });

  test.each([
    ['lists', '['.repeat(20_000)],
    ['maps', '{a: '.repeat(20_000)],
    ['closed lists', '['.repeat(500) + ']'.repeat(500)],
    ['block lists', '- '.repeat(5000)],
  ])('refuses %s nested without end', async (_, text) => {
    expect(await failure(text)).toBeInstanceOf(ConfigError);
  });

  test.each([
    ['a host name', `gateways: {default: {port: 1}}\nroutes: [{hostnames: ["${'a-'.repeat(200_000)}!"]}]`],
    ['a duration', `routes: [{policies: {timeout: {requestTimeout: "${'1h'.repeat(200_000)}"}}}]`],
    ['a log level', `config: {logging: {level: "${'a,'.repeat(2000)}"}}`],
    ['a host', `backends: [{name: a, host: "${'[:'.repeat(200_000)}"}]`],
    [
      'a certificate',
      `gateways: {default: {port: 1, tls: {cert: "-----BEGIN CERTIFICATE-----${'-'.repeat(200_000)}", key: x}}}`,
    ],
  ])('answers %s of enormous length at once', async (_, text) => {
    expect(await failure(text)).toBeInstanceOf(ConfigError);
  });

  test('reads a thousand routes', async () => {
    const routes = Array.from(
      { length: 1000 },
      (_, index) => `- {name: r${index}, matches: [{path: {pathPrefix: /r${index}}}], backends: [{host: "a:1"}]}`,
    );
    expect(await failure(`gateways: {default: {port: 1}}\nroutes:\n${routes.join('\n')}`)).toBeUndefined();
  });
});
