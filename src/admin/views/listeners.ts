import type { Dump } from '../protocol/decode-config-dump.ts';

/** One listener and the socket it shares. */
export interface ListenerRow {
  readonly bind: string;
  readonly address: string;
  readonly listener: string;
  readonly key: string;
  readonly gateway: string;
  readonly hostname: string;
  readonly protocol: string;
  readonly tunnelProtocol: string;
  readonly mode: string;
  readonly routes: number;
}

export function listenerRows(dump: Dump): readonly ListenerRow[] {
  return dump.binds.flatMap((bind) => {
    const socket = { bind: bind.key, address: bind.address, tunnelProtocol: bind.tunnelProtocol, mode: bind.mode };
    if (bind.listeners.length === 0) {
      return [
        {
          ...socket,
          listener: '',
          key: '',
          gateway: '',
          hostname: '',
          protocol: bind.protocol.toUpperCase(),
          routes: 0,
        },
      ];
    }
    return bind.listeners.map((listener) => ({
      ...socket,
      listener: listener.name,
      key: listener.key,
      gateway: listener.gateway,
      hostname: listener.hostname,
      protocol: listener.protocol,
      routes: listener.routes.length,
    }));
  });
}
