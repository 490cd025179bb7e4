import { describe, expect, test } from '@jest/globals';
import { Config, settings } from '@oclif/core';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CliConfig, type Cli } from '../../commands/_base/cli.ts';
import { completionCommands, completionScript, shells } from '../../commands/_base/completion.ts';
import { renderDocs } from '../../commands/_base/docs.ts';
import { golden } from '../golden.ts';
import { gwctl } from './gwctl.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function config(): Promise<CliConfig> {
  settings.enableAutoTranspile = false;
  const packageJson = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const commands = { strategy: 'pattern', target: './commands', globPatterns: ['**/*.ts', '!_base/**'] };
  const cli: Cli = {
    env: {},
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    signal: new AbortController().signal,
    takeSignals: () => () => {},
    self: 'gwctl',
  };
  const made = new CliConfig(
    { root, pjson: { ...packageJson, oclif: { ...packageJson.oclif, commands } }, ignoreManifest: true },
    cli,
  );
  await made.load();
  return made;
}

/** Every command as it is listed, without the entries of its aliases. */
function commandsOf(made: Config): readonly Config['commands'][number][] {
  return made.commands.filter((command) => ![...command.aliases, ...command.hiddenAliases].includes(command.id));
}

describe('docs/cli.md', () => {
  test('is what the commands say', async () => {
    const docs = renderDocs(await config());
    expect(docs).toBe(golden('../../docs/cli.md', docs));
  });

  test('every command has a summary, and examples that name flags it has', async () => {
    const made = await config();
    for (const command of commandsOf(made)) {
      const known = new Set(
        Object.values(command.flags).flatMap((flag) => [
          `--${flag.name}`,
          ...(flag.aliases ?? []).map((alias) => `--${alias}`),
        ]),
      );
      const examples = (command.examples ?? []).map((example) =>
        typeof example === 'string' ? example : example.command,
      );
      const used = examples.flatMap(
        (example) => (/gwctl [^|>]*/.exec(example)?.[0].split(' -- ')[0] ?? '').match(/(?<= )--[a-z-]+/g) ?? [],
      );
      expect({
        id: command.id,
        summary: command.summary === undefined,
        unknown: used.filter((flag) => !known.has(flag)),
      }).toEqual({ id: command.id, summary: false, unknown: [] });
    }
  });

  test('every argument leaves stdin alone', async () => {
    for (const command of commandsOf(await config())) {
      const loaded = await command.load();
      for (const arg of Object.values(loaded.args)) expect([command.id, arg.ignoreStdin]).toEqual([command.id, true]);
    }
  });
});

describe('help', () => {
  test('-h is short, --help has examples, help <command> is the same, an alias shows the command itself', async () => {
    const short = await gwctl(['proxy', 'config', 'backends', '-h']);
    const long = await gwctl(['proxy', 'config', 'backends', '--help']);
    expect(short.stdout).not.toContain('EXAMPLES');
    expect(long.stdout).toContain('EXAMPLES');
    expect((await gwctl(['help', 'proxy', 'config', 'backends'])).stdout).toBe(long.stdout);
    expect((await gwctl(['config', 'be', '--help'])).stdout).toBe(long.stdout);
  });

  test('a group without a command shows what is in it', async () => {
    const { code, stdout } = await gwctl(['proxy', 'config']);
    expect([code, stdout.includes('proxy config backends')]).toEqual([0, true]);
    expect((await gwctl(['config'])).stdout).toContain('proxy config backends');
    expect((await gwctl([])).stdout).toContain('COMMANDS');
  });

  test('a help flag behind -- belongs to the request', async () => {
    expect((await gwctl(['trace', '--port', '1', '--', '-h'])).code).toBe(2);
  });

  test('help exit-codes lists them', async () => {
    expect((await gwctl(['help', 'exit-codes'])).stdout).toContain('124   timeout');
  });
});

describe('completion', () => {
  test.each(shells)('the %s script is the same from the command and from the commands', async (shell) => {
    const made = await config();
    const script = completionScript(shell, 'gwctl', completionCommands(commandsOf(made)));
    expect((await gwctl(['completion', shell])).stdout).toBe(script);
    expect(script).toContain('backends');
  });

  test('bash completes commands, flags and values', async () => {
    const made = await config();
    const script = completionScript('bash', 'gwctl', completionCommands(commandsOf(made)));
    const complete = (...words: string[]): string[] => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const program = `${script}\nCOMP_WORDS=(gwctl ${line}); COMP_CWORD=${words.length}; _gwctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', program], { encoding: 'utf8' }).trim().split('\n');
    };
    expect(complete('proxy', 'config', 'b')).toEqual(['backends']);
    expect(complete('conf')).toEqual(['config']);
    expect(complete('config', 'backends', '--al')).toEqual(['--all']);
    expect(complete('config', 'backends', '-o', 'j')).toEqual(['json']);
    expect(complete('config', 'backends', '--local', '--output', 'ya')).toEqual(['yaml']);
  });
});
