import type { GatewayAddresses } from '../../proxy/index.ts';

/** What a running proxy listens on, one line each. */
export function listeningLines(addresses: GatewayAddresses): readonly string[] {
  return [
    ...addresses.binds.map(({ bindKey, port }) => `listening on port ${port} (${bindKey})`),
    ...(['admin', 'stats', 'readiness'] as const).flatMap((name) => {
      const address = addresses[name];
      return address === null ? [] : [`${name} on ${address}`];
    }),
  ];
}
