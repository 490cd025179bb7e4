import type { Bind, Listener, ListenerProtocol } from '../ir/gateway.ts';
import type { GatewayPolicies } from '../ir/policy.ts';
import type { HttpRoute, TcpRoute } from '../ir/route.ts';
import type { Path } from '../load/problem.ts';
import type { Specs } from '../load/specs.ts';
import type { BindListenerSpec, BindSpec } from '../schema/bind.ts';
import type { GatewayListenerSpec, GatewaySpec } from '../schema/gateway.ts';
import type { Context } from './context.ts';
import { gatewayPolicies } from './policy.ts';
import { httpRoute, tcpRoute } from './route.ts';
import { tlsServer } from './tls.ts';

/** A listener while routes are still being attached to it. */
export interface ListenerDraft {
  readonly key: string;
  readonly name: string;
  /** The gateway of the file that it belongs to; undefined for a listener of `binds`. */
  readonly gateway: string | undefined;
  readonly namespace: string;
  readonly hostname: string;
  readonly spoken: 'HTTP' | 'HTTPS' | 'TCP' | 'TLS';
  readonly protocol: ListenerProtocol;
  readonly policies: GatewayPolicies;
  readonly path: Path;
  readonly routes: { readonly path: Path; readonly route: HttpRoute }[];
  readonly tcpRoutes: { readonly path: Path; readonly route: TcpRoute }[];
}

/** A port while its listeners are still drafts. */
export interface BindDraft {
  readonly port: number;
  /** As it is named in messages: `gateways.default`, `binds[0]`. */
  readonly source: string;
  readonly path: Path;
  readonly tunnelProtocol: Bind['tunnelProtocol'];
  readonly listeners: readonly ListenerDraft[];
}

/** The ports of `gateways` and `binds`, in the order of the file. */
export function bindDrafts(context: Context, specs: Specs): BindDraft[] {
  const gateways = [...specs.gateways].flatMap(([name, spec]) =>
    spec === undefined ? [] : [gatewayDraft(context, name, spec)],
  );
  const binds = specs.binds.flatMap((spec, index) => (spec === undefined ? [] : bindDraft(context, spec, index)));
  return [...gateways, ...binds];
}

function gatewayDraft(context: Context, name: string, spec: GatewaySpec): BindDraft {
  const path = ['gateways', name];
  const place = (ref: string, at: Path) => ({
    key: `gateway/${ref}`,
    name: ref,
    gateway: name,
    namespace: 'default',
    path: at,
  });
  const listeners =
    spec.listeners === undefined
      ? [listenerDraft(context, spec, { ...place(name, path), hostname: '*' })]
      : spec.listeners.map((listener, index) => {
          const ref = `${name}/${listener.name ?? `listener${index}`}`;
          return listenerDraft(context, listener, {
            ...place(ref, [...path, 'listeners', index]),
            hostname: listener.hostname ?? '*',
          });
        });
  return { port: spec.port, source: `gateways.${name}`, path: [...path, 'port'], tunnelProtocol: 'direct', listeners };
}

function bindDraft(context: Context, spec: BindSpec, index: number): BindDraft[] {
  const { port } = spec;
  if (port === undefined) return [];
  const listeners = spec.listeners.map((listener, position) =>
    bindListener(context, listener, { port, path: ['binds', index, 'listeners', position], index: position }),
  );
  const tunnelProtocol = spec.tunnelProtocol === 'proxy' ? 'proxy' : 'direct';
  return [{ port, source: `binds[${index}]`, path: ['binds', index, 'port'], tunnelProtocol, listeners }];
}

function bindListener(
  context: Context,
  spec: BindListenerSpec,
  place: { readonly port: number; readonly path: Path; readonly index: number },
): ListenerDraft {
  const name = spec.name ?? `listener${place.index}`;
  const key = `bind/${place.port}/${name}`;
  const namespace = spec.namespace ?? 'default';
  const protocol = spec.protocol === 'HBONE' ? undefined : spec.protocol;
  const draft = listenerDraft(
    context,
    { tls: spec.tls, protocol, ...spec.policies },
    { key, name, gateway: undefined, namespace, hostname: spec.hostname ?? '', path: place.path },
  );
  for (const [index, route] of (spec.routes ?? []).entries()) {
    const path = [...place.path, 'routes', index];
    draft.routes.push({ path, route: httpRoute(context, route, { path, index, parent: key }) });
  }
  for (const [index, route] of (spec.tcpRoutes ?? []).entries()) {
    const path = [...place.path, 'tcpRoutes', index];
    draft.tcpRoutes.push({ path, route: tcpRoute(context, route, { path, index, parent: key }) });
  }
  return draft;
}

type ListenerPlace = Pick<ListenerDraft, 'key' | 'name' | 'gateway' | 'namespace' | 'hostname' | 'path'> & {
  /** Where its policies are written, when not beside the rest. */
  readonly policiesPath?: Path;
};

/** A listener without routes. */
export function listenerDraft(
  context: Context,
  spec: Omit<GatewayListenerSpec, 'name' | 'hostname'>,
  { policiesPath, ...place }: ListenerPlace,
): ListenerDraft {
  const spoken = spec.protocol ?? (spec.tls === undefined ? 'HTTP' : 'HTTPS');
  const tls = spec.tls === undefined ? undefined : tlsServer(context, spec.tls, [...place.path, 'tls']);
  const policies = gatewayPolicies(context, spec, { ...place, path: policiesPath ?? place.path });
  return { ...place, spoken, protocol: listenerProtocol(spoken, tls), policies, routes: [], tcpRoutes: [] };
}

function listenerProtocol(spoken: ListenerDraft['spoken'], tls: ReturnType<typeof tlsServer>): ListenerProtocol {
  if (spoken === 'HTTP' || spoken === 'TCP') return { kind: spoken };
  if (spoken === 'TLS') return { kind: 'TLS', tls };
  // Without material the listener is dropped with a problem, or built again once its files are read.
  return tls === undefined ? { kind: 'HTTP' } : { kind: 'HTTPS', tls };
}

/** A draft with its routes. */
export function finishListener(
  draft: ListenerDraft,
  routes: readonly HttpRoute[],
  tcpRoutes: readonly TcpRoute[],
): Listener {
  const { key, name, namespace, hostname, protocol, policies } = draft;
  return {
    key,
    name,
    gatewayName: 'default',
    gatewayNamespace: namespace,
    hostname,
    protocol,
    policies,
    routes,
    tcpRoutes,
  };
}
