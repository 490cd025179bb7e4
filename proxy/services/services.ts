import { peerOf } from '../backends/connect.ts';
import type { BackendTable } from '../backends/resolve.ts';
import { requestChange } from '../policy/header-modifier/compile.ts';
import type { BackendPolicies, SimpleBackendRef } from '../../src/config/ir/index.ts';
import type { Histogram } from '../telemetry/thread-metrics.ts';
import type { Connection } from './connection.ts';
import type { ServiceClient, ServiceRef, Services, ServiceUse } from './contract.ts';
import { callHttp } from './http-call.ts';
import { callUnary } from './rpc-client.ts';
import { OpenStream } from './rpc-stream.ts';
import { authorityOf, type ServiceDeps } from './service-call.ts';

export interface ServicesDeps extends ServiceDeps {
  readonly backends: Pick<BackendTable, 'resolve' | 'named'>;
  /** Where the time of calls is counted; null counts nowhere. */
  readonly duration: ((use: ServiceUse) => Histogram) | null;
}

/** Clients of policy services among the backends of one configuration, over the pools of a data thread. */
export function createServices(deps: ServicesDeps): Services {
  return {
    open(ref, use = 'Http') {
      return clientOf(deps, connectionTo(deps, ref, use));
    },
  };
}

function clientOf(deps: ServiceDeps, connection: Connection): ServiceClient {
  return {
    name: connection.name,
    credentials: connection.credentials,
    authority: () => authorityOf(connection),
    http: (request, options) => callHttp(deps, connection, { request, options }),
    unary: (method, message, options) => callUnary({ deps, connection, options }, method, message),
    stream: (method, events, options) => new OpenStream({ deps, connection, options, method, events }),
  };
}

function connectionTo({ backends, duration }: ServicesDeps, ref: ServiceRef, use: ServiceUse): Connection {
  const { target } = ref;
  const named = target.kind === 'reference' ? backends.named(target.backend)?.policies : undefined;
  const policies: BackendPolicies = { ...named, ...ref.policies };
  const name = nameOf(target);
  const modifier = policies.requestHeaderModifier;
  const change = modifier === undefined ? null : requestChange(modifier, `service ${name}`);
  return {
    name,
    use,
    resolved: backends.resolve(target, policies),
    resolvedHttp2: backends.resolve(target, { ...policies, http: { ...policies.http, version: 'HTTP/2.0' } }),
    timeoutMs: policies.http?.requestTimeoutMs ?? null,
    changeHeaders: change?.change ?? null,
    authority: change?.authority ?? null,
    credentials: policies.backendAuth,
    duration: duration?.(use) ?? null,
  };
}

function nameOf(target: SimpleBackendRef): string {
  switch (target.kind) {
    case 'inline':
      return peerOf(target.backend.target);
    case 'reference':
      return target.backend;
    case 'service':
      return `${target.namespace}/${target.hostname}:${target.port}`;
  }
}
