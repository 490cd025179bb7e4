import { once } from 'node:events';
import { createServer } from 'node:net';

import { systemCodeOf } from '../shared/errors.ts';

/** The wanted port when nobody holds it, else a free one. */
export async function portOrFree(wanted: number): Promise<number> {
  try {
    return await tryPort(wanted);
  } catch (error) {
    if (systemCodeOf(error) !== 'EADDRINUSE' && systemCodeOf(error) !== 'EACCES') throw error;
    return tryPort(0);
  }
}

async function tryPort(port: number): Promise<number> {
  const server = createServer();
  server.listen({ port, exclusive: true });
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : port;
}
