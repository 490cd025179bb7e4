import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { expect, test } from '@jest/globals';

import { isAlive, until } from './world.ts';

const programs = new URL('../../../../../proxy/mcp/targets/stdio/programs.ts', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

/** Runs three programs that obey to nothing, and ends the last of them itself. */
const WORK = `
  const { Programs } = await import(${JSON.stringify(programs)});
  const clock = { now: () => performance.now(), schedule(work, ms) { const t = setTimeout(work, ms); return () => clearTimeout(t); } };
  const log = { enabled: () => false, error() {}, warn() {}, info() {}, debug() {}, trace() {} };
  const its = new Programs({ clock, log });
  const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')";
  const pids = [];
  const up = [];
  for (let i = 0; i < 3; i++) {
    const command = { file: process.execPath, args: ['-e', script], env: {} };
    up.push(new Promise((resolve) => {
      const program = its.start({ command, log: { stderr() {}, end() {}, garbage() {}, note() {}, failed() {} }, events: { onLine: resolve, onEnd() {}, idleSince: () => null } });
      pids.push(program.pid);
    }));
  }
  await Promise.all(up);
`;

async function pidsOf(script: string): Promise<{ readonly pids: number[]; readonly kill: () => void }> {
  const gateway = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: here,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [chunk] = await once(gateway.stdout, 'data');
  return { pids: JSON.parse(String(chunk)), kill: () => void gateway.kill('SIGKILL') };
}

test('programs end though the gateway is killed and they ignore everything', async () => {
  const { pids, kill } = await pidsOf(`${WORK} console.log(JSON.stringify(pids));`);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  kill();
  await until(() => !pids.some(isAlive));
});

test('programs end though their data thread is torn down', async () => {
  const worker = `const { parentPort } = await import('node:worker_threads'); ${WORK} parentPort.postMessage(pids);`;
  const script = `
    import { Worker } from 'node:worker_threads';
    const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(worker)})));
    worker.on('message', async (pids) => { console.log(JSON.stringify(pids)); await worker.terminate(); });
    setInterval(() => {}, 1000);`;
  const { pids, kill } = await pidsOf(script);
  await until(() => !pids.some(isAlive));
  kill();
});
