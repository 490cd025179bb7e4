import { describe, expect, test } from '@jest/globals';

import { type Cloud, cloudOf, noCloudAccess } from '../../../../proxy/backends/auth/cloud.ts';
import { findToken } from '../../../../proxy/backends/auth/copilot.ts';
import { Secret } from '../../../../src/shared/secret.ts';

function machine(files: Record<string, string>, variables: Record<string, string> = {}): Cloud {
  const environment = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, new Secret(value)]));
  const access = {
    ...noCloudAccess,
    home: '/home/me',
    readFile: (path: string) => {
      const content = files[path];
      return content === undefined ? Promise.reject(new Error(`no ${path}`)) : Promise.resolve(content);
    },
  };
  return cloudOf(access, environment);
}

const hosts = JSON.stringify({
  'ghe.test': { oauth_token: 'other' },
  'github.com': { user: 'me', oauth_token: 'of-hosts' },
});
const apps = JSON.stringify({ 'github.com:Iv1.x': { oauth_token: 'of-apps' } });
const cli = JSON.stringify({ copilot_tokens: { 'https://github.com:me': 'of-cli' } });

describe('the token of Copilot', () => {
  test.each([
    ['the first variable', { GH_COPILOT_TOKEN: 'a', COPILOT_GITHUB_TOKEN: 'b' }, {}, 'a'],
    ['the other variable', { COPILOT_GITHUB_TOKEN: 'b' }, { '/home/me/.copilot/config.json': cli }, 'b'],
    [
      'the command line',
      {},
      { '/home/me/.copilot/config.json': cli, '/home/me/.config/github-copilot/apps.json': apps },
      'of-cli',
    ],
    ['an editor', {}, { '/home/me/.config/github-copilot/apps.json': apps }, 'of-apps'],
    ['an older editor', {}, { '/home/me/.config/github-copilot/hosts.json': hosts }, 'of-hosts'],
    ['another folder', { XDG_CONFIG_HOME: '/etc/me' }, { '/etc/me/github-copilot/hosts.json': hosts }, 'of-hosts'],
    [
      'the next file where one is broken',
      {},
      {
        '/home/me/.copilot/config.json': '{',
        '/home/me/.config/github-copilot/apps.json': '[]',
        '/home/me/.config/github-copilot/hosts.json': hosts,
      },
      'of-hosts',
    ],
  ])('is that of %s', async (_what, variables, files, value) => {
    expect(await findToken(machine(files, variables))).toEqual({ value, expiresAtMs: null });
  });

  test('is missing where nobody is logged in', async () => {
    await expect(findToken(machine({}))).rejects.toThrow('nobody is logged in to Copilot');
  });
});
