import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';

const SUITE = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const SERVER = join(import.meta.dirname, 'server.ts');

/** Checks of one scenario of the suite. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

/** Asks the server at `url` everything that the suite asks, and tells by scenario what came of it. */
export async function runSuite(url: string): Promise<ReadonlyMap<string, Outcome>> {
  const output = await new Promise<string>((resolve, reject) => {
    const done = (error: Error | null, stdout: string, stderr: string): void => {
      // It ends with 1 when something has failed.
      if (stdout.includes('=== SUMMARY ===')) resolve(stdout);
      else reject(new Error(`the suite did not end: ${stderr}`, { cause: error }));
    };
    execFile(process.execPath, [SUITE, 'server', '--url', url], { maxBuffer: 64 * 2 ** 20 }, done);
  });
  const rows = output.slice(output.indexOf('=== SUMMARY ===')).matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm);
  return new Map(
    [...rows].map(([, scenario = '', passed, failed]) => [
      scenario,
      { passed: Number(passed), failed: Number(failed) },
    ]),
  );
}

export interface ConformantServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The server that has what the suite asks for. */
export async function startConformant(): Promise<ConformantServer> {
  const child = spawn(process.execPath, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /listening (\d+)/.exec(chunk.toString())?.[1];
      if (found !== undefined) resolve(found);
    });
    void gone.then(() => reject(new Error('the server has ended')));
  });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      child.kill();
      await gone;
    },
  };
}
