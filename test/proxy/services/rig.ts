import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

import { EndpointStore } from '../../../proxy/backends/endpoint-store.ts';
import type { EndpointInfo } from '../../../proxy/backends/endpoint-view.ts';
import { EndpointView } from '../../../proxy/backends/endpoint-view.ts';
import { compileBackends } from '../../../proxy/backends/resolve.ts';
import { endpointIdentities, hostIdentity } from '../../../proxy/backends/endpoint-identity.ts';
import type { ServiceClient } from '../../../proxy/services/contract.ts';
import { createServices } from '../../../proxy/services/services.ts';
import type { BackendPolicies, GatewayConfig, HostBackend, NamedBackend } from '../../../src/config/ir/index.ts';
import { backendDefaults, contexts, type Rig } from '../backends/rig.ts';

export interface OpenedService {
  readonly client: ServiceClient;
  /** The account of its endpoint. */
  info(): EndpointInfo | undefined;
}

/** A client of a service, over pools of its own. A path is a socket, a name a named backend. */
export function openService(rig: Rig, to: number | string, policies: BackendPolicies = {}): OpenedService {
  const target =
    typeof to === 'number'
      ? ({ kind: 'tcp', host: '127.0.0.1', port: to } as const)
      : ({ kind: 'unix', path: to } as const);
  const backend: HostBackend = { kind: 'host', key: 'test/service', target };
  return open(rig, { backend, ref: { target: { kind: 'inline', backend }, policies }, backends: [] });
}

/** The same for a backend that has a name and policies of its own. */
export function openNamed(rig: Rig, port: number, own: BackendPolicies, policies: BackendPolicies = {}): OpenedService {
  const backend: HostBackend = { kind: 'host', key: '/named', target: { kind: 'tcp', host: '127.0.0.1', port } };
  const ref = { target: { kind: 'reference', backend: '/named' }, policies } as const;
  return open(rig, { backend, ref, backends: [{ name: 'named', backend, policies: own }] });
}

interface Opening {
  readonly backend: HostBackend;
  readonly ref: Parameters<ReturnType<typeof createServices>['open']>[0];
  readonly backends: readonly NamedBackend[];
}

function open(rig: Rig, { backend, ref, backends }: Opening): OpenedService {
  const config = {
    process: { backend: backendDefaults },
    binds: [],
    routeGroups: [],
    backends,
    policies: [],
    frontend: { service: ref },
    services: [],
    workloads: [],
    // `as`: what backends look at.
  } as unknown as GatewayConfig;
  const store = new EndpointStore(64);
  const endpoints = new EndpointView(store.buffer);
  const rows = store.acquireAll(endpointIdentities(config));
  const pools = rig.pools();
  const services = createServices({
    backends: compileBackends(config, { rows, view: endpoints, contexts }),
    pools: () => pools,
    endpoints,
    duration: null,
  });
  return { client: services.open(ref), info: () => store.describe(hostIdentity(backend), Date.now()) };
}

/** A server that answers each stream by hand; `nth` counts streams over all connections. */
export async function streamServer(
  rig: Rig,
  onStream: (stream: ServerHttp2Stream, nth: number) => void,
  settings = {},
): Promise<{ port: number; sessions: Set<ServerHttp2Session> }> {
  let nth = 0;
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings });
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    onStream(stream, nth++);
  });
  // `as`: an HTTP/2 server listens as any other.
  const port = await rig.listen(server as never);
  return { port, sessions };
}
