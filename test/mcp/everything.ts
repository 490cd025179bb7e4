import { spawn } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

const SERVER = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');

export interface RunningServer {
  readonly port: number;
  /** Where clients of its transport connect. */
  readonly url: string;
  close(): Promise<void>;
}

/** The reference server of the protocol, which has one of everything, over HTTP. */
export async function startEverything(transport: 'streamableHttp' | 'sse' = 'streamableHttp'): Promise<RunningServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [SERVER, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const onText = (chunk: Buffer): void => {
      said += chunk.toString();
      if (said.includes(String(port))) resolve();
    };
    child.stdout.on('data', onText);
    child.stderr.on('data', onText);
    void gone.then(() => reject(new Error(`the server has ended: ${said}`)));
  });
  return {
    port,
    url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    close: async () => {
      child.kill();
      await gone;
    },
  };
}

/** The server cannot choose one by itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // `as`: a TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
