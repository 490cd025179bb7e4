import type { AdminReply } from './admin-call.ts';
import type { Endpoint, EndpointReply } from './endpoint.ts';

/** Takes the profiles; loaded when the first one is asked for. */
export interface Profiles {
  cpu(query: URLSearchParams, signal: AbortSignal): Promise<AdminReply>;
  heap(): Promise<AdminReply>;
}

/** `/debug/pprof/profile` and `/debug/pprof/heap`. */
export function pprofEndpoints(load: () => Promise<Profiles>): Endpoint[] {
  return [
    {
      path: '/debug/pprof/profile',
      methods: ['GET'],
      guarded: ['GET'],
      summary: 'CPU profile of every thread (gzipped pprof)',
      parameters: 'seconds=1..300, frequency=1..1000',
      handle: async ({ query, signal }) => whole(await (await load()).cpu(query, signal)),
    },
    {
      path: '/debug/pprof/heap',
      methods: ['GET'],
      guarded: ['GET'],
      summary: 'Heap profile of every thread (gzipped pprof)',
      handle: async () => whole(await (await load()).heap()),
    },
  ];
}

function whole(reply: AdminReply): EndpointReply {
  return { kind: 'whole', ...reply };
}
