import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { lint } from '../../../proxy/lint/lint.ts';
import { lintRules } from '../../../proxy/lint/rules.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { plainPaint } from '../../../ui/text/paint.ts';
import { renderFindings } from '../../../ui/text/findings.ts';
import { read, table } from '../../docs/markdown.ts';
import { golden, goldenPath } from '../../golden.ts';

async function findingsOf(text: string, env: Record<string, string> = {}) {
  const loaded = await loadConfig({ kind: 'text', text, name: 'config.yaml' }, { env });
  return { text: renderFindings(lint(loaded), loaded.text, plainPaint), codes: lint(loaded).map(({ code }) => code) };
}

async function codesOf(route: string, rest = ''): Promise<readonly string[]> {
  return (await findingsOf(`gateways: {default: {port: 80}}\nroutes:\n- ${route}\n${rest}`)).codes;
}

const backends = 'backends: [{host: "127.0.0.1:1"}]';

describe('lint', () => {
  test('finds one of everything, with code, line and the way out', async () => {
    const found = await findingsOf(readFileSync(goldenPath('lint/everything.yaml'), 'utf8'), { K2: 'k' });
    expect(found.text).toBe(golden('lint/everything.txt', found.text));
    expect(lintRules.map(({ code }) => code).filter((code) => !found.codes.includes(code))).toEqual([]);
  });

  test('is content with what is in order', async () => {
    const found = await findingsOf(`
gateways: {default: {port: 80}}
routes:
- matches: [{path: {pathPrefix: /a}, method: GET}]
  policies:
    apiKey: {keys: [{keyHash: "sha256:${'0'.repeat(64)}"}]}
    authorization: {rules: [{require: 'apiKey.team == "red"'}, {deny: 'has(apiKey.blocked) && apiKey.blocked'}]}
  ${backends}
- matches: [{path: {pathPrefix: /a}}]
  ${backends}
`);
    expect(found.text).toBe('');
  });

  test.each([
    ['jwt.anything.at.all == metadata.x && has(apiKey.y)', []],
    ['isInner() && math.abs(-1.5) > 1.0 && [1].all(v, v > 0)', []],
    ['isIner()', ['did you mean `isInner`?']],
    ['math.abz(1)', ['did you mean `math.abs`?']],
    ['soruce.port > 1 || source.prot > 1u', ['did you mean `source`?', 'did you mean `port`?']],
    ['"a".startsWith("a", 1)', ['give it what docs/cel.md says that it takes']],
    [
      'mcp.tool.nam == "a" || mcp.tol.name == "b" || has(mcp.task.arguments.x)',
      ['did you mean `name`?', 'did you mean `tool`?', 'correct the name; docs/cel.md lists all of them'],
    ],
    ['mcp.tool.arguments.any.thing == 1 && has(mcp.tool.error.code) && mcp.resource.target == "a"', []],
    ['wholly_unknown == 1', ['correct the name; docs/cel.md lists all of them']],
  ])('names in %s that nobody knows', async (rule, hints) => {
    const text = `config: {customFunctions: 'isInner() { true }'}
gateways: {default: {port: 80}}
routes: [{policies: {authorization: {rules: [{require: ${JSON.stringify(rule)}}]}}, ${backends}}]`;
    const loaded = await loadConfig({ kind: 'text', name: 'config.yaml', text }, { env: {} });
    const found = lint(loaded).filter(({ code }) => code === 'GW_LINT_UNKNOWN_NAME');
    expect(found.map(({ hint }) => hint)).toEqual(hints);
  });

  test('counts a login on the gateway as one for its routes', async () => {
    const policies = 'policies: {authorization: {rules: ["jwt.sub == \\"a\\""]}}';
    expect(await codesOf(`{${policies}, ${backends}}`)).toContain('GW_LINT_UNSET_VARIABLE');
    const jwks = JSON.stringify({
      keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'a', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
    });
    const gateway = `gateways: {default: {port: 80, jwtAuth: {issuer: a, audiences: [b], jwks: '${jwks}'}}}`;
    expect((await findingsOf(`${gateway}\nroutes:\n- {${policies}, ${backends}}`)).codes).toEqual([]);
  });

  test.each([
    ['request.method == "get"', true],
    ['request.method == "GET"', false],
    ['request.path == "a"', true],
    ['source.port == "80"', true],
    ['source.address == "10.0.0.1:80"', true],
    ['request.method == "GET" || request.method == "get"', false],
    ['request.host == "a" && request.host == "b"', true],
    ['2 > 3', true],
    ['true', false],
  ])('knows whether %s can be true', async (expression, never) => {
    const rules = `policies: {authorization: {rules: [${JSON.stringify(expression)}]}}`;
    expect(await codesOf(`{${rules}, ${backends}}`)).toEqual(never ? ['GW_LINT_RULE_NEVER_TRUE'] : []);
  });

  test.each([
    ['request.headers["x-role"] != "admin"', true],
    ['request.headers["x-role"] == "guest"', false],
    ['"x-role" in request.headers && request.headers["x-role"] != "admin"', false],
    ['default(request.headers["x-role"], "") != "admin"', false],
    ['!(request.path == "/a")', false],
  ])('knows whether a missing value disarms deny: %s', async (expression, disarmed) => {
    const rules = `policies: {authorization: {rules: [{deny: ${JSON.stringify(expression)}}]}}`;
    expect(await codesOf(`{${rules}, ${backends}}`)).toEqual(disarmed ? ['GW_LINT_DISARMED_DENY'] : []);
  });

  test.each([
    ['request.path in []', true],
    ['request.method in ["GET", "PUT"] && request.method == "POST"', true],
    ['request.method in ["GET", "PUT"] && request.method == "PUT"', false],
    ['source.port == 1u && source.port == 1u', false],
  ])('knows whether %s can be true', async (expression, never) => {
    const rules = `policies: {authorization: {rules: [${JSON.stringify(expression)}]}}`;
    expect(await codesOf(`{${rules}, ${backends}}`)).toEqual(never ? ['GW_LINT_RULE_NEVER_TRUE'] : []);
  });

  test('lets conditions and filters be switched off', async () => {
    const limits = `localRateLimit: {conditional: [{condition: 'false', maxTokens: 1, fillInterval: 1s}]}`;
    expect(
      await codesOf(`{policies: {${limits}}, ${backends}}`, "frontendPolicies: {accessLog: {filter: 'false'}}"),
    ).toEqual([]);
  });

  const KEYS = (metadata: string) => `apiKey: {keys: [{keyHash: "sha256:${'0'.repeat(64)}", metadata: {${metadata}}}]}`;

  test.each([
    ['team: red', 'apiKey.team != "red"', false],
    ['', 'apiKey.team != "red"', true],
    ['', 'apiKey.team == "eve"', false],
    ['', '!apiKey.admin', true],
    ['', '!has(apiKey.admin) || !apiKey.admin', false],
    ['', 'apiKey.?level.orValue(0) < 3', false],
    ['', 'apiKey.level < 3', true],
    ['', '3 > apiKey.level', true],
    ['', 'apiKey.level > 3', false],
  ])('knows whether a field that may be missing disarms deny: {%s} %s', async (metadata, deny, disarmed) => {
    const policies = `policies: {${KEYS(metadata)}, authorization: {rules: [{deny: ${JSON.stringify(deny)}}]}}`;
    expect(await codesOf(`{${policies}, ${backends}}`)).toEqual(disarmed ? ['GW_LINT_DISARMED_DENY'] : []);
  });

  test.each([
    [`['jwt.sub == "a"']`, 'it denies everybody'],
    [`['jwt.sub == "a"', 'request.path == "/a"']`, 'it allows nobody'],
    [`[{require: 'jwt.sub == "a"'}, 'request.path == "/a"']`, 'it denies everybody'],
    [`[{deny: 'jwt.sub == "a"'}]`, 'it never denies'],
    [`['jwt.sub == "a" || request.path == "/a"']`, null],
    [`['!has(jwt.sub) || jwt.sub == "a"']`, null],
    [`['default(jwt.sub, "") == ""']`, null],
    [`['jwt == null']`, null],
    [`['has(jwt.sub) && request.path == "/a"']`, 'it denies everybody'],
  ])('knows what becomes of %s without tokens', async (rules, effect) => {
    const { text } = await findingsOf(
      `gateways: {default: {port: 80}}\nroutes:\n- {policies: {authorization: {rules: ${rules}}}, ${backends}}\n`,
    );
    expect(/it (denies|allows|never)[a-z ]*/.exec(text)?.[0] ?? null).toBe(effect);
  });

  test('points at the rule that lacks a login, not at one like it that has one', async () => {
    const rule = `authorization: {rules: [{require: 'apiKey.team == "red"'}]}`;
    const { text } = await findingsOf(`
gateways: {default: {port: 80}}
routes:
- {name: with, matches: [{path: {exact: /a}}], policies: {${KEYS('team: red')}, ${rule}}, ${backends}}
- {name: without, matches: [{path: {exact: /b}}], policies: {${rule}}, ${backends}}
`);
    expect(text).toMatch(/^config\.yaml:5:\d+: error GW_LINT_UNSET_VARIABLE/);
    expect(text).toContain('\n1 error\n');
  });

  test('looks at the rules of backends, too', async () => {
    const policies = `policies: {authorization: {rules: ['jwt.sub == "a"']}}`;
    expect(await codesOf(`{backends: [{host: "127.0.0.1:1", ${policies}}]}`)).toEqual(['GW_LINT_UNSET_VARIABLE']);
  });

  test.each([
    ['authorization', 'mcp.tool.name == "a"', '`mcp` is read', 'write the rule under `mcpAuthorization`'],
    ['authorization', 'mcpGuardrails.team == "a"', '`mcpGuardrails` is read', 'under `mcpAuthorization`'],
    ['mcpAuthorization', 'mcpGuardrails.team == "a"', '`mcpGuardrails` is read', 'add `mcpGuardrails`'],
    ['mcpAuthorization', 'mcp.tool.name == "a" && jwt.sub == "b"', '`jwt` is read', 'add `jwtAuth`'],
    ['mcpAuthorization', 'mcp.tool.name == "a"', null, ''],
  ])('knows what %s can read of %s', async (policy, rule, message, hint) => {
    const found = await findingsOf(`
mcp:
  port: 3000
  targets: [{name: a, mcp: {host: "http://127.0.0.1:1/mcp"}}]
  policies: {${policy}: {rules: [${JSON.stringify(rule)}]}}
`);
    expect(found.codes).toEqual(message === null ? [] : ['GW_LINT_UNSET_VARIABLE']);
    expect(found.text).toContain(message ?? '');
    expect(found.text).toContain(hint);
  });

  const TWO = '{name: files, mcp: {host: "http://127.0.0.1:1"}}, {name: web, mcp: {host: "http://127.0.0.1:2"}}';
  const ONE = '{name: files, mcp: {host: "http://127.0.0.1:1"}}';

  test.each([
    ['mcp.tool.name == "files_read"', TWO, '', 'read'],
    ['"web_fetch" != mcp.prompt.name', TWO, '', 'fetch'],
    ['mcp.tool.target == "files" && mcp["tool"]["name"] in ["other", "files_read_it"]', TWO, '', 'read_it'],
    ['mcp.tool.name.startsWith("files_re")', TWO, '', 're'],
    ['mcp.tool.name == "files_read"', ONE, 'prefixMode: always, ', 'read'],
    ['mcp.tool.name == "files_read"', ONE, '', null],
    ['mcp.tool.name == "files_read"', TWO, 'prefixMode: never, ', null],
    ['mcp.tool.name == "read_file" || mcp.tool.name in ["other_read"]', TWO, '', null],
    ['mcp.resource.name == "files_read" || mcp.tool.target == "files_"', TWO, '', null],
  ])('finds names with the prefix that clients see: %s', async (rule, targets, mode, own) => {
    const { text, codes } = await findingsOf(`
mcp: {port: 3000, ${mode}targets: [${targets}], policies: {mcpAuthorization: {rules: [${JSON.stringify(rule)}]}}}
`);
    expect(codes).toEqual(own === null ? [] : ['GW_LINT_MCP_PREFIXED_NAME']);
    expect(text).toContain(own === null ? '' : `write "${own}"`);
    expect(text).toContain(own === null ? '' : "rules see the server's own name");
  });

  test('finds names with a prefix in the rules of a route, and of a backend that several routes name', async () => {
    const rules = (mode: string) => `mcpAuthorization: {rules: [{${mode}: 'mcp.tool.name == "files_read"'}]}`;
    const found = await findingsOf(`
gateways: {default: {port: 80}}
backends:
- {name: both, mcp: {targets: [${TWO}]}}
- {name: ruled, mcp: {targets: [${TWO}]}, policies: {${rules('deny')}}}
routes:
- {name: a, matches: [{path: {exact: /a}}], backends: [{backend: both}], policies: {${rules('require')}}}
- {name: b, matches: [{path: {exact: /b}}], backends: [{backend: ruled}]}
- {name: c, matches: [{path: {exact: /c}}], backends: [{backend: ruled}]}
`);
    expect(found.codes).toEqual(['GW_LINT_MCP_PREFIXED_NAME', 'GW_LINT_MCP_PREFIXED_NAME']);
    expect(found.text).toMatch(/config\.yaml:5:.*\n(.*\n)+config\.yaml:7:/);
  });

  test.each([
    ['npx -y server', true],
    ['  npx --token=secret ', true],
    ['npx', false],
    ['/no/such/program', false],
  ])('finds a whole command line where a program is asked for: %s', async (cmd, found) => {
    const { codes, text } = await findingsOf(
      `mcp: {port: 3000, targets: [{name: a, stdio: {cmd: ${JSON.stringify(cmd)}}}]}`,
    );
    expect(codes).toEqual(found ? ['GW_LINT_MCP_COMMAND_LINE'] : []);
    expect(text).toContain(found ? 'put the rest into args: `cmd: npx, args: […]`' : '');
  });

  test('takes a program with a space in its path for what it is', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw lint '));
    const cmd = join(directory, 'a program');
    writeFileSync(cmd, '');
    try {
      const { codes } = await findingsOf(
        `mcp: {port: 3000, targets: [{name: a, stdio: {cmd: ${JSON.stringify(cmd)}}}]}`,
      );
      expect(codes).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('leaves a login alone that only wants to know who comes', async () => {
    const login = KEYS('team: red').replace('{keys', '{mode: optional, keys');
    expect(await codesOf(`{policies: {${login}}, ${backends}}`)).toEqual(['GW_LINT_OPTIONAL_LOGIN']);
    const header = `transformations: {request: {set: {x-team: 'apiKey.team'}}}`;
    expect(await codesOf(`{policies: {${login}, ${header}}, ${backends}}`)).toEqual([]);
  });

  test('finds secrets among headers', async () => {
    const set = (value: string) =>
      `{policies: {requestHeaderModifier: {set: {authorization: "${value}"}}}, ${backends}}`;
    expect(await codesOf(set('Bearer abc'))).toEqual(['GW_LINT_PLAIN_SECRET']);
    const fromEnv = await findingsOf(`gateways: {default: {port: 80}}\nroutes:\n- ${set('${TOKEN}')}`, { TOKEN: 'x' });
    expect(fromEnv.codes).toEqual([]);
    const computed = `{policies: {transformations: {request: {set: {authorization: '"Bearer " + request.path'}}}}, ${backends}}`;
    expect(await codesOf(computed)).toEqual([]);
  });

  test('leaves a route alone that one of its listeners lets requests through to', async () => {
    const listeners = ['a', 'b'].map((name) => `{name: ${name}, protocol: HTTP, hostname: ${name}.test}`).join(', ');
    const text = (hosts: string) => `
gateways: {default: {port: 80, listeners: [${listeners}]}}
routes:
- {name: one, hostnames: [${hosts}], ${backends}}
`;
    expect((await findingsOf(text('a.test'))).codes).toEqual([]);
    expect((await findingsOf(text('c.test'))).codes).toEqual(['GW_LINT_SHADOWED_ROUTE']);
  });

  test('finds what needs requests where a route carries bytes', async () => {
    const found = await findingsOf(`
gateways: {default: {port: 80, protocol: TCP}}
backends:
- {name: b, host: "127.0.0.1:9", policies: {backendTLS: {}, authorization: {rules: [{require: 'source.port > 0'}]}}}
policies:
- name: {name: p, namespace: default}
  target: {route: {name: r, namespace: default}}
  policy: {csrf: {}}
tcpRoutes:
- {name: r, backends: [{backend: b}]}
`);
    expect(found.codes).toEqual(['GW_LINT_UNATTACHED_POLICY', 'GW_LINT_UNATTACHED_POLICY']);
    expect(found.text).toContain('config.yaml:4:');
    expect(found.text).toContain('policies of backend b have no effect on route default/r');
    expect(found.text).toContain('config.yaml:7:');
    expect(found.text).toContain('csrf needs requests');
  });

  test('points into the group of a shadowed route', async () => {
    const { text } = await findingsOf(`
gateways: {default: {port: 80}}
routes:
- {matches: [{path: {exact: /a}}], ${backends}}
- {matches: [{path: {pathPrefix: /g}}], backends: [{routeGroup: g}]}
routeGroups:
- name: g
  routes:
  - {${backends}}
  - {${backends}}
`);
    expect(text).toMatch(/^config\.yaml:10:5: warning GW_LINT_SHADOWED_ROUTE/);
    expect(text).toContain('\n1 warning\n');
  });

  test('tells of guards that streams pass, unless the guards of all models look at streams', async () => {
    const section = (shared: string, own: string): string => `gateways: {default: {port: 80}}
llm:
  policies: {guardrails: {${shared}request: [{regex: {rules: [{builtin: ssn}]}}]}}
  models: [{name: m, provider: openAI, guardrails: {${own}response: [{regex: {rules: [{builtin: ssn}]}}]}}]`;
    const streaming = 'streaming: Enabled, ';
    expect((await findingsOf(section('', ''))).codes).toEqual(['GW_LINT_UNGUARDED_STREAM']);
    expect((await findingsOf(section('', streaming))).codes).toEqual([]);
    expect((await findingsOf(section(streaming, ''))).codes).toEqual([]);
  });

  test('leaves routes alone that differ in method, header or host', async () => {
    const second = (match: string, hosts = ''): string =>
      `- {${hosts} matches: [{path: {pathPrefix: /a}${match}}], ${backends}}`;
    const first = `{matches: [{path: {pathPrefix: /a}, method: GET}], ${backends}}`;
    expect(await codesOf(first, second(', method: POST'))).toEqual([]);
    expect(await codesOf(first, second(''))).toEqual([]);
    expect(await codesOf(first, second(', method: GET', 'hostnames: [a.test],'))).toEqual([]);
    expect(await codesOf(first, second(', method: GET'))).toEqual(['GW_LINT_SHADOWED_ROUTE']);
  });
});

describe('docs/lint.md', () => {
  test('has every rule with its severity', () => {
    const rows = table(read('docs/lint.md')).map(([code = '', severity, finds]) => [
      code.replaceAll('`', ''),
      severity,
      finds,
    ]);
    expect(rows).toEqual(lintRules.map(({ code, severity, summary }) => [code, severity, summary.replaceAll('`', '')]));
  });

  test.each([
    ['matches: [{path: {pathPrefix: /mcp}}]', '', true],
    ['matches: [{path: {exact: /mcp}}]', '', true],
    [
      'matches: [{path: {pathPrefix: /mcp}}, {path: {pathPrefix: /.well-known/oauth-protected-resource/other}}]',
      '',
      true,
    ],
    [
      'matches: [{path: {pathPrefix: /mcp/}}, {path: {pathPrefix: /.well-known/oauth-protected-resource/mcp}}]',
      '',
      false,
    ],
    ['matches: [{path: {exact: /mcp}}]', `- {matches: [{path: {pathPrefix: /.well-known}}], ${backends}}`, false],
    ['matches: [{path: {regex: "/m.p"}}]', '', false],
    ['matches: [{path: {pathPrefix: /}}]', '', false],
  ])('looks whether clients of MCP find their metadata: %s', async (matches, rest, missed) => {
    for (const policy of [
      'mcpAuthentication: {issuer: "https://issuer.test", audiences: [api], resourceMetadata: {}}',
      'jwtAuth: {issuer: "https://issuer.test", mcp: {}}',
    ]) {
      const codes = await codesOf(`{${matches}, policies: {${policy}}, ${backends}}`, rest);
      expect(codes).toEqual(missed ? ['GW_LINT_MCP_METADATA_UNREACHABLE'] : []);
    }
  });

  test.each([
    ['mcpAuthentication', 'authentik', '', true],
    ['mcpAuthentication', 'authentik', 'clientId: shop, ', false],
    ['mcpAuthentication', 'keycloak', '', false],
    ['jwtAuth', 'entra', '', true],
    ['jwtAuth', 'entra', 'clientId: shop, ', false],
  ])('finds logins at providers that register nobody: %s of %s %s', async (shape, kind, client, closed) => {
    const issuer = 'issuer: "https://issuer.test/tenant", audiences: [api]';
    const provider = `${client}provider: {${kind}: {}}, resourceMetadata: {}`;
    const policy = shape.startsWith('jwt')
      ? `jwtAuth: {${issuer}, mcp: {${provider}}}`
      : `mcpAuthentication: {${issuer}, ${provider}}`;
    const codes = await codesOf(`{policies: {${policy}}, ${backends}}`);
    expect(codes).toEqual(closed ? ['GW_LINT_MCP_REGISTRATION_CLOSED'] : []);
  });
});
