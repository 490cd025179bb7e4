import type { z } from 'zod';
import { object } from '../build.ts';
import { simpleRef } from './request-mirror.ts';

/** `backendTunnel`: reaches the backend through a proxy. */
export function backendTunnel(connection: z.ZodType) {
  return object(
    'Reaches the backend through an HTTP proxy.',
    { proxy: simpleRef, policies: connection.optional() },
    'BackendTunnel',
  );
}

export type BackendTunnelSpec = z.output<ReturnType<typeof backendTunnel>>;
