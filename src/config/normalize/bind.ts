import type { Bind } from '../ir/gateway.ts';
import type { ListenAddress, ProcessConfig } from '../ir/process.ts';
import type { Context } from './context.ts';
import { finishListener, type BindDraft, type ListenerDraft } from './listener.ts';
import { uniqueRoutes } from './route.ts';

/** Finished binds; tells of ports that are taken twice and of listeners that cannot share one. */
export function binds(context: Context, drafts: readonly BindDraft[], process: ProcessConfig): Bind[] {
  const taken = localPorts(process);
  return drafts.map((draft) => {
    const other = taken.get(draft.port);
    if (other === undefined) taken.set(draft.port, draft.source);
    else
      context.report(
        draft.path,
        'GW_CONFIG_CONFLICT',
        `port ${draft.port} is used by both ${other} and ${draft.source}`,
        { hint: 'give one of them another port' },
      );
    checkListeners(context, draft);
    return finishBind(context, draft, process.enableIpv6);
  });
}

function finishBind(context: Context, draft: BindDraft, enableIpv6: boolean): Bind {
  const { port, tunnelProtocol, listeners } = draft;
  return {
    key: `bind/${port}`,
    address: enableIpv6 ? `[::]:${port}` : `0.0.0.0:${port}`,
    host: enableIpv6 ? '::' : '0.0.0.0',
    port,
    protocol: listeners.some(isTls) ? 'tls' : listeners.some(({ spoken }) => spoken === 'TCP') ? 'tcp' : 'http',
    mode: 'standard',
    tunnelProtocol,
    listeners: listeners.map((listener) =>
      finishListener(listener, uniqueRoutes(context, listener.routes), uniqueRoutes(context, listener.tcpRoutes)),
    ),
  };
}

/** Ports of the local servers. Port 0 is chosen by the system and never in the way. */
function localPorts(process: ProcessConfig): Map<number, string> {
  const servers: readonly (readonly [string, ListenAddress])[] = [
    ['config.adminAddr', process.adminAddr],
    ['config.statsAddr', process.statsAddr],
    ['config.readinessAddr', process.readinessAddr],
  ];
  return new Map(
    servers.flatMap(([name, address]) =>
      address.kind === 'tcp' && address.port !== 0 ? [[address.port, name] as const] : [],
    ),
  );
}

function checkListeners(context: Context, { listeners, source, port }: BindDraft): void {
  const first = listeners[0];
  if (first === undefined) return;
  const names = new Map<string, ListenerDraft>();
  const hostnames = new Map<string, ListenerDraft>();
  for (const listener of listeners) {
    mixing(context, first, listener, port);
    const sameName = names.get(listener.name);
    if (sameName === undefined) names.set(listener.name, listener);
    else
      context.report(
        listener.path,
        'GW_CONFIG_CONFLICT',
        `two listeners of ${source} are called ${JSON.stringify(listener.name)}`,
      );
    const sameHost = hostnames.get(listener.hostname);
    if (sameHost === undefined) hostnames.set(listener.hostname, listener);
    else {
      const host = listener.hostname === '' || listener.hostname === '*' ? 'every host' : listener.hostname;
      context.report(
        listener.path,
        'GW_CONFIG_CONFLICT',
        `the listeners ${JSON.stringify(sameHost.name)} and ${JSON.stringify(listener.name)} both take ${host} on port ${port}`,
        { hint: 'give each a `hostname` of its own' },
      );
    }
  }
}

function mixing(context: Context, first: ListenerDraft, listener: ListenerDraft, port: number): void {
  if (listener === first) return;
  const pair = `the listeners ${JSON.stringify(first.name)} (${first.spoken}) and ${JSON.stringify(listener.name)} (${listener.spoken}) cannot share port ${port}`;
  if (isTls(first) !== isTls(listener))
    context.report(listener.path, 'GW_CONFIG_CONFLICT', `${pair}: one speaks TLS, the other does not`);
  else if (first.spoken === 'TCP' && listener.spoken === 'TCP')
    context.report(listener.path, 'GW_CONFIG_CONFLICT', `${pair}: plain TCP says nothing to tell them apart`);
  else if (!isTls(first) && first.spoken !== listener.spoken)
    context.report(listener.path, 'GW_CONFIG_CONFLICT', `${pair}: plain HTTP and plain TCP cannot be told apart`);
}

function isTls({ spoken }: ListenerDraft): boolean {
  return spoken === 'HTTPS' || spoken === 'TLS';
}
