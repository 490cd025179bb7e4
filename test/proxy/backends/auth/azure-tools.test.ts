import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { developerTools } from '../../../../proxy/backends/auth/azure/developer-tools.ts';
import { SystemCloudAccess } from '../../../../proxy/backends/auth/cloud-access.ts';
import { type Cloud, cloudOf } from '../../../../proxy/backends/auth/cloud.ts';
import { causesOf } from '../../../../proxy/backends/auth/failure.ts';

const folders: string[] = [];
const machines: SystemCloudAccess[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A machine with these programs, which note what they are asked. */
function machine(programs: Record<string, string>): { cloud: Cloud; asked: () => string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'tools-'));
  folders.push(folder);
  for (const [name, body] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\necho "${name} $*" >> ${folder}/asked\n${body}\n`, { mode: 0o755 });
  const access = new SystemCloudAccess();
  machines.push(access);
  const cloud = cloudOf(access, {});
  return {
    cloud: { ...cloud, run: (command) => cloud.run({ ...command, program: join(folder, command.program) }) },
    asked: () => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n'),
  };
}

const az = `echo '{"accessToken": "of-az", "expiresOn": "1999-01-01 00:00:00.000000", "expires_on": 4102444800}'`;
const oldAz = `echo '{"accessToken": "of-az", "expiresOn": "2100-01-01 00:00:00.000000"}'`;
const azd = `echo '{"token": "of-azd", "expiresOn": "2100-01-01T00:00:00Z"}'`;
const SCOPE = 'https://cognitiveservices.azure.com/.default';
const AZ_LINE = `az account get-access-token --output json --scope ${SCOPE}`;
const AZD_LINE = `azd auth token --output json --scope ${SCOPE}`;

describe('the Azure tools', () => {
  test.each([
    ['the first', { az, azd }, { value: 'of-az', expiresAtMs: 4_102_444_800_000 }, [AZ_LINE]],
    [
      'the first, of an older version, whose times are local',
      { az: oldAz },
      { value: 'of-az', expiresAtMs: new Date(2100, 0, 1).getTime() },
      [AZ_LINE],
    ],
    [
      'the second where nobody is logged in with the first',
      { az: 'echo "run az login" >&2; exit 1', azd },
      { value: 'of-azd', expiresAtMs: 4_102_444_800_000 },
      [AZ_LINE, AZD_LINE],
    ],
    ['the only one', { azd }, { value: 'of-azd', expiresAtMs: 4_102_444_800_000 }, [AZD_LINE]],
    [
      'one that does not say when its token ends',
      { az: `echo '{"accessToken":"t"}'` },
      { value: 't', expiresAtMs: null },
      [AZ_LINE],
    ],
    [
      'one that would like to ask',
      { az: `read line; ${az}` },
      { value: 'of-az', expiresAtMs: 4_102_444_800_000 },
      [AZ_LINE],
    ],
  ])('give a token: %s', async (_name, programs, token, lines) => {
    const { cloud, asked } = machine(programs);
    expect(await developerTools(cloud, SCOPE)).toEqual(token);
    expect(asked()).toEqual(lines);
  });

  test('tell why nobody is logged in', async () => {
    const { cloud } = machine({ az: 'echo "please run az login" >&2; exit 1', azd: 'echo garbage' });
    const error: unknown = await developerTools(cloud, SCOPE).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: 'nobody is logged in with the Azure tools' });
    expect(causesOf(error)).toMatch(
      /az gives no credential: .*please run az login.*azd did not answer with a JSON object/s,
    );
  });

  test('are not waited for when they hang, nor read without end', async () => {
    const { cloud } = machine({ az: 'exec sleep 100', azd: 'exec yes' });
    const hurried: Cloud = { ...cloud, run: (command) => cloud.run({ ...command, timeoutMs: 200 }) };
    await expect(developerTools(hurried, SCOPE)).rejects.toThrow('nobody is logged in');
  });
});
