import type { Bind, FrontendPolicies, Listener, TcpRoute } from '../../src/config/ir/index.ts';
import { compileTlsServer, type CompiledTls } from './tls-server.ts';

/** A bind as its port needs it: certificates parsed, defaults filled. Immutable; a reload makes another. */
export interface CompiledBind {
  readonly key: string;
  readonly host: string;
  readonly port: number;
  /** As shown to people: `[::]:8080`. */
  readonly address: string;
  readonly protocol: Bind['protocol'];
  /** How connections begin before the protocol of the bind; null when with nothing. */
  readonly proxyProtocol: NonNullable<FrontendPolicies['proxyProtocol']> | null;
  readonly listeners: readonly CompiledListener[];
  readonly frontend: FrontendPolicies;
}

export interface CompiledListener {
  readonly key: string;
  readonly name: string;
  readonly gatewayName: string;
  readonly gatewayNamespace: string;
  readonly hostname: string;
  readonly protocol: CompiledProtocol;
}

export type CompiledProtocol =
  | { readonly kind: 'HTTP' }
  | { readonly kind: 'HTTPS'; readonly tls: CompiledTls }
  | { readonly kind: 'TCP'; readonly routes: readonly TcpRoute[] }
  /** `tls` is null for passthrough. */
  | { readonly kind: 'TLS'; readonly tls: CompiledTls | null; readonly routes: readonly TcpRoute[] };

/**
 * Builds what a port needs from the configuration. `ticketSecret` (32 random bytes or more) is one per process, so that a
 * TLS session begun in one data thread resumes in another. Throws a `GwError` that names the file it is about.
 */
export function compileBind(bind: Bind, frontend: FrontendPolicies, ticketSecret: Buffer): CompiledBind {
  return {
    key: bind.key,
    host: bind.host,
    port: bind.port,
    address: bind.address,
    protocol: bind.protocol,
    proxyProtocol: proxyProtocolOf(bind, frontend),
    listeners: bind.listeners.map((listener) => compileListener(listener, frontend, ticketSecret)),
    frontend,
  };
}

/** What a connection of this listener depends on; a connection of a listener whose identity changed is drained. */
export function listenerIdentity(listener: CompiledListener): string {
  const { protocol } = listener;
  const tls = 'tls' in protocol ? (protocol.tls?.identity ?? 'passthrough') : 'plain';
  return [listener.key, protocol.kind, listener.hostname, tls].join(' ');
}

function compileListener(listener: Listener, frontend: FrontendPolicies, ticketSecret: Buffer): CompiledListener {
  const { key, name, gatewayName, gatewayNamespace, hostname } = listener;
  return {
    key,
    name,
    gatewayName,
    gatewayNamespace,
    hostname,
    protocol: compileProtocol(listener, frontend, ticketSecret),
  };
}

function compileProtocol(listener: Listener, frontend: FrontendPolicies, ticketSecret: Buffer): CompiledProtocol {
  const { protocol, key, tcpRoutes } = listener;
  if (protocol.kind === 'HTTP') return protocol;
  if (protocol.kind === 'TCP') return { kind: 'TCP', routes: tcpRoutes };
  const http = protocol.kind === 'HTTPS';
  const tls =
    protocol.tls === undefined
      ? null
      : compileTlsServer(protocol.tls, { frontend: frontend.tls, listenerKey: key, http, ticketSecret });
  if (protocol.kind === 'TLS') return { kind: 'TLS', tls, routes: tcpRoutes };
  if (tls === null) throw new Error(`HTTPS listener ${key} without TLS settings`);
  return { kind: 'HTTPS', tls };
}

/** The frontend policy decides; a bind that only says `proxy` takes version 2 and nothing else. */
function proxyProtocolOf(bind: Bind, frontend: FrontendPolicies): CompiledBind['proxyProtocol'] {
  if (frontend.proxyProtocol !== undefined) return frontend.proxyProtocol;
  return bind.tunnelProtocol === 'proxy' ? { version: 'v2', mode: 'strict' } : null;
}
