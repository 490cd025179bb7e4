import type { Variable } from '../../../src/cel/compile/host.ts';
import { HeaderMap } from '../../../src/cel/library/headers.ts';
import { RecordMap } from '../../../src/cel/value/map.ts';
import { uint } from '../../../src/cel/value/number.ts';
import type { Value } from '../../../src/cel/value/value.ts';
import type { PeerIdentity } from '../../exchange/connection.ts';
import type { EvalContext } from '../contract.ts';
import { view, type Reader } from './view.ts';

const always = { present: () => true };

/** What is known of a workload by its address alone. */
export interface WorkloadFacts {
  readonly name: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly workloadIps: readonly string[];
}

/** `source`: who sent the request; what a client certificate says, when there is one. */
export function sourceVariable(workloads: readonly WorkloadFacts[]): Variable<EvalContext> {
  const byAddress = workloadsByAddress(workloads);
  return view(
    {
      address: ({ connection }) => connection.sourceAddress,
      port: ({ connection }) => uint(connection.sourcePort),
      rawAddress: ({ connection }) => connection.rawAddress,
      rawPort: ({ connection }) => uint(connection.rawPort),
      identity: onPeer(identityOf),
      spiffeId: onPeer((peer) => peer.spiffeId ?? undefined),
      subjectAltNames: onPeer((peer) => peer.subjectAltNames),
      issuer: onPeer((peer) => peer.issuer),
      subject: onPeer((peer) => peer.subject),
      subjectCn: onPeer((peer) => peer.subjectCn ?? undefined),
      certificate: onPeer((peer) => peer.certificate),
      unverifiedWorkload: ({ connection }) => byAddress.get(connection.sourceAddress) ?? undefined,
      connectHeaders: () => new HeaderMap({ names: [], values: [] }, () => false),
    },
    always,
  );
}

/** Null for an address that several workloads share: it tells none of them. */
function workloadsByAddress(workloads: readonly WorkloadFacts[]): ReadonlyMap<string, RecordMap | null> {
  const found = new Map<string, RecordMap | null>();
  for (const { name, namespace, serviceAccount, workloadIps } of workloads) {
    const facts = new RecordMap({
      name,
      namespace,
      serviceAccount: serviceAccount === '' ? undefined : serviceAccount,
    });
    for (const ip of workloadIps) found.set(ip, found.has(ip) ? null : facts);
  }
  return found;
}

function onPeer(read: (peer: PeerIdentity) => Value | undefined): Reader {
  return ({ connection }) => {
    const peer = connection.tls?.peer ?? null;
    return peer === null ? undefined : read(peer);
  };
}

/** `spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT` */
function identityOf({ spiffeId }: PeerIdentity): Value | undefined {
  const match = /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(spiffeId ?? '');
  if (match === null) return undefined;
  return new RecordMap({ trustDomain: match[1], namespace: match[2], serviceAccount: match[3] });
}

/** `destination`: the gateway's end of the connection. */
export const destinationVariable: Variable<EvalContext> = view(
  {
    address: ({ connection }) => connection.destinationAddress,
    port: ({ connection }) => uint(connection.destinationPort),
    hostname: ({ connection }) => connection.tls?.sni ?? connection.serverName,
  },
  always,
);
