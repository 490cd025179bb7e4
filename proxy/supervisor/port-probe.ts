import { createServer } from 'node:net';

import type { Bind } from '../../src/config/ir/index.ts';
import { bindError } from '../listener/bind-error.ts';

/**
 * Checks that nobody else holds a port before the data threads share it: with `reusePort` the system would happily let two
 * gateways of one user split the connections between them. Rejects with a `BindError`.
 */
export async function probePort(bind: Bind): Promise<void> {
  try {
    await listenAndClose(bind);
  } catch (error) {
    throw await bindError(bind, error);
  }
}

function listenAndClose({ host, port }: Bind): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => resolve());
    });
  });
}
