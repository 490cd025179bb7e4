import { readFileSync } from 'node:fs';

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
});
