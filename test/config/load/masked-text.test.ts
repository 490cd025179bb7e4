import { describe, expect, test } from '@jest/globals';

import { ConfigError, loadConfig } from '../../../src/config/index.ts';

async function failure(text: string, env: Record<string, string> = {}): Promise<string> {
  const loading = loadConfig({ kind: 'text', text, name: 'test.yaml' }, { env });
  const error: unknown = await loading.catch((reason: unknown) => reason);
  if (!(error instanceof ConfigError)) throw new Error('it was not refused');
  return error.message;
}

const around = (policies: string): string =>
  `gateways: {default: {port: 80}}\nroutes: [{weight: 1, policies: {${policies}}}]\n`;

describe('the line of a problem', () => {
  test.each([
    ['a key', 'apiKey: {keys: [{key: hunter2}, {key: "hunter2 too"}]}'],
    ['a hash', `apiKey: {keys: [{keyHash: hunter2}]}`],
    ['a password', 'basicAuth: {htpasswd: "ann:hunter2"}'],
    ['credentials among headers', 'requestHeaderModifier: {set: {Authorization: "Bearer hunter2", x-a: visible}}'],
  ])('shows %s as stars', async (_what, policies) => {
    const message = await failure(around(policies));
    expect(message).toContain('weight');
    expect(message).not.toContain('hunter2');
    expect(message).toMatch(/\*{7}/);
  });

  test('keeps its columns, and everything else that stands in it', async () => {
    const line = '  policies: {apiKey: {keys: [{key: hunter2, metadata: {a: b}, mode: x}]}}';
    const message = await failure(`gateways: {default: {port: 80}}\nroutes:\n- name: a\n${line}\n`);
    expect(message).toContain(line.replace('hunter2', '*******'));
    const [, shown = '', carets = ''] = message.split('\n');
    expect(shown.slice(carets.indexOf('^'))).toMatch(/^mode/);
  });

  test('masks every line of a secret, and a variable where it is written', async () => {
    const text = `gateways: {default: {port: 80}}
routes:
- policies:
    basicAuth:
      mode: wrong
      htpasswd: |
        ann:hunter2
    apiKey: {keys: [{key: "a\${KEY}b"}], mode: wrong}
`;
    const message = await failure(text, { KEY: 'hunter2' });
    expect(message).toMatch(/mode: wrong/);
    expect(message).not.toContain('hunter2');
  });

  test('shows the file that a secret is read from', async () => {
    const message = await failure(around('basicAuth: {htpasswd: {file: nowhere.txt}}'));
    expect(message).toContain('{htpasswd: {file: nowhere.txt}}');
  });
});
