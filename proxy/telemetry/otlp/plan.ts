import { createHash } from 'node:crypto';

import type { OtlpReceiver, TelemetryResource } from '../../../src/config/ir/index.ts';
import { Secret } from '../../../src/shared/secret.ts';
import { octetsOf } from '../../credentials/octets.ts';
import { Headers } from '../../exchange/headers.ts';
import type { Services } from '../../services/contract.ts';
import type { Attribute } from '../spans/span.ts';
import { BatchFrame } from './encode.ts';
import type { ExportPlan } from './exporters.ts';
import { sendByGrpc, sendByHttp, type Signal } from './send.ts';

export interface PlanOptions {
  readonly signal: Signal;
  readonly resource: readonly Attribute[];
  /** Name of the scope of spans or records. */
  readonly scope: string;
  readonly services: Services;
}

/** How items get to a receiver. Throws a `GwError` when it is a reference to nothing. */
export function exportPlan(receiver: OtlpReceiver, { signal, resource, scope, services }: PlanOptions): ExportPlan {
  const client = services.open(receiver.service);
  const headers = Headers.from(receiver.headers.map(([name, value]) => [name, octetsOf(value.reveal())] as const));
  const { protocol, path } = receiver;
  return {
    key: identityOf([signal, receiver, resource]),
    signal,
    destination: {
      name: client.name,
      frame: new BatchFrame({ resource, scope: { name: scope, version: '' } }),
      send: protocol === 'grpc' ? sendByGrpc(client, { signal, headers }) : sendByHttp(client, { headers, path }),
    },
  };
}

/** `service.name`, what the environment says, and what is configured, which wins. */
export function resourceAttributes(
  { serviceName, attributes }: TelemetryResource,
  configured: readonly Attribute[],
): readonly Attribute[] {
  return [...new Map<string, Attribute[1]>([['service.name', serviceName], ...attributes, ...configured])];
}

/** Secrets count, but none can be read from it. */
function identityOf(definition: unknown): string {
  const text = JSON.stringify(definition, function (this: unknown, key: string, value: unknown) {
    // `toJSON` has hidden a secret by the time it is handed over; the holder still has it.
    const original = (this as Record<string, unknown>)[key];
    return original instanceof Secret ? original.reveal() : value;
  });
  return createHash('sha256').update(text).digest('base64url');
}
