import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from '@jest/globals';

import { agrees, steps, type Step } from './console.ts';
import { blocks, read, root } from './markdown.ts';
import { Shell } from './shell.ts';

/** The ports that the page names. */
const PORTS = [8080, 9000, 15_000, 15_020, 15_021];

const TOUR_LIMIT_MS = 180_000;

describe('the tour', () => {
  let folder: string;
  let shell: Shell;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gwctl-tour-'));
  });

  afterEach(() => {
    shell.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    'says what happens when its commands are typed one after the other',
    async () => {
      const ports = await freePorts();
      shell = new Shell(root, environment(folder, ports));
      for (const block of blocks(read('docs/tour.md'))) {
        if (block.file !== undefined) await save(shell, block.file, ports.into(block.text));
        if (block.kind !== 'console') continue;
        const typed = steps(ports.into(block.text));
        for (const [at, step] of typed.entries()) await type(shell, step, typed[at + 1]);
      }
    },
    TOUR_LIMIT_MS,
  );
});

async function type(shell: Shell, { command, expected }: Step, following: Step | undefined): Promise<void> {
  const { output, code } = await shell.run(command);
  const failureIsShown = following?.command === 'echo $?';
  if (code !== 0 && !failureIsShown) throw new Error(`exit code ${code}\n${shell.transcript}`);
  if (expected.length > 0 && !agrees(expected, output)) {
    throw new Error(`the page shows\n\n$ ${command}\n${expected.join('\n')}\n\nand it is\n\n${shell.transcript}`);
  }
}

async function save(shell: Shell, name: string, text: string): Promise<void> {
  const { output } = await shell.run('pwd');
  writeFileSync(join(output.trim(), name), text);
}

interface Ports {
  /** The text with free ports in place of those of the page, and the admin port said where the default is meant. */
  into(text: string): string;
  of(port: number): number;
}

async function freePorts(): Promise<Ports> {
  const servers = await Promise.all(
    PORTS.map(async () => {
      const server = createServer().listen(0);
      await once(server, 'listening');
      return server;
    }),
  );
  // `as`: a TCP server that listens has an address with a port.
  const found = servers.map((server) => (server.address() as AddressInfo).port);
  const free = new Map(PORTS.map((port, at) => [port, found[at] ?? port]));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const of = (port: number): number => free.get(port) ?? port;
  return {
    of,
    into: (text) =>
      text
        .replaceAll(/\b(8080|9000|15000|15020|15021)\b/g, (port) => String(of(Number(port))))
        .replaceAll('--local', `--local --admin-port ${of(15_000)}`),
  };
}

/** The gateway's own addresses come from the environment, as docs/configuration.md says. */
function environment(folder: string, ports: Ports): Record<string, string> {
  const path = [folder, process.env['PATH'] ?? ''];
  provideCurl(folder);
  return {
    PATH: path.join(delimiter),
    HOME: process.env['HOME'] ?? folder,
    TMPDIR: folder,
    ADMIN_ADDR: `127.0.0.1:${ports.of(15_000)}`,
    STATS_ADDR: `127.0.0.1:${ports.of(15_020)}`,
    READINESS_ADDR: `127.0.0.1:${ports.of(15_021)}`,
    WORKER_THREADS: '1',
    npm_config_loglevel: 'error',
  };
}

/** The page uses curl for plain requests; a machine without it gets one that can do as much. */
function provideCurl(folder: string): void {
  const script = `#!/bin/sh
IFS=:
for part in $PATH; do
  if [ -x "$part/curl" ] && [ "$part" != "${folder}" ]; then exec "$part/curl" "$@"; fi
done
exec "${process.execPath}" -e '
const [flags, url] = process.argv.slice(1);
fetch(url).then(async (answer) => {
  if (!answer.ok && flags.includes("f")) process.exit(22);
  process.stdout.write(await answer.text());
}, () => process.exit(7));
' "$@"
`;
  writeFileSync(join(folder, 'curl'), script, { mode: 0o755 });
}
