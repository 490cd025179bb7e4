import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the system gives away by itself, so that nobody else takes one before it is used. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** A port that nobody uses now, for those who have to know it before they open it. */
export async function freePort(taken: ReadonlySet<number> = new Set()): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!taken.has(port) && (await isFree(port))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.on('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
