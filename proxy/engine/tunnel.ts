import type { Duplex } from 'node:stream';

import { noDynamicTarget, refusalOf } from '../backends/refusal.ts';
import { UpstreamError, type UpstreamResponse } from '../backends/upstream.ts';
import { Headers } from '../exchange/headers.ts';
import { stripInterimHead } from '../exchange/hop-by-hop.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { refuse } from '../exchange/refusal.ts';
import { Splice } from '../listener/splice.ts';
import { dynamicTarget } from './dynamic-target.ts';
import type { BackendProgram } from './program.ts';
import type { InFlight } from './in-flight.ts';
import { finish } from './report.ts';
import * as tracing from './tracing.ts';

/** A tunnel that carries nothing for an hour is closed, as TCP routes are. */
const TUNNEL_IDLE_MS = 60 * 60 * 1000;

const cannotUpgrade = refuse(
  502,
  'UpstreamFailure',
  'request upgrade failed: the client connection cannot be taken over',
);
const cannotTunnel = refuse(501, 'InvalidRequest', 'CONNECT is only supported over HTTP/1.1');

/** Joins client and upstream after a 101 that the client asked for; null when the connection was taken over. */
export function takeOverUpgrade(flight: InFlight, response: UpstreamResponse): HttpResponse | null {
  const { exchange } = flight;
  const asked = exchange.request.upgrade;
  const offered = response.headers.get('upgrade') ?? '';
  if (response.upgraded === null || asked === null || asked.toLowerCase() !== offered.toLowerCase()) {
    response.upgraded?.destroy();
    const tried = offered === '' ? 'nothing' : offered;
    return flight.refuse(
      refuse(
        502,
        'UpstreamFailure',
        `request upgrade failed, backend tried ${tried} but ${asked ?? 'nothing'} was requested`,
      ),
    );
  }
  stripInterimHead(response.headers);
  response.headers.set('connection', 'upgrade');
  response.headers.set('upgrade', offered);
  const client = exchange.transport.takeOver(101, response.headers);
  if (client === null) {
    response.upgraded.destroy();
    return flight.refuse(cannotUpgrade);
  }
  if (exchange.trace !== null) tracing.responseSnapshot(flight, 'final response', response);
  join(flight, client, response.upgraded, 101);
  return null;
}

/** `frontendPolicies.connect.mode: route`: 200 and a raw tunnel to the backend that the route chose. */
export async function openConnectTunnel(flight: InFlight, backend: BackendProgram): Promise<HttpResponse | null> {
  const { exchange, runtime } = flight;
  const target = dynamicTarget(exchange, backend);
  if (target === null) return flight.refuse(noDynamicTarget);
  const picked = backend.resolved.pickTunnel(target ?? exchange.request.authority);
  if (picked.kind === 'refused') return flight.refuse(picked.refusal);
  try {
    const upstream = await runtime.pools.openTunnel(picked.origin);
    const client = exchange.transport.takeOver(200, new Headers());
    if (client === null) {
      upstream.destroy();
      return flight.refuse(exchange.clientGone ? cannotUpgrade : cannotTunnel);
    }
    join(flight, client, upstream, 200);
    return null;
  } catch (error) {
    const failure =
      error instanceof UpstreamError ? error : new UpstreamError('connect', String(error), { cause: error });
    return flight.refuse(refusalOf(failure));
  }
}

function join(flight: InFlight, client: Duplex, upstream: Duplex, status: number): void {
  flight.tunnelStatus = status;
  flight.exchange.ended();
  const splice = new Splice(client, upstream, {
    idleMs: TUNNEL_IDLE_MS,
    onBackendData: flight.llm?.tunnelled(),
    through: flight.llm?.relay(),
    onEnd: (end) => {
      const bytes = end.bytesSent;
      finish(flight, end.error === null ? { kind: 'complete', bytes } : { kind: 'cut', bytes, error: end.error });
    },
  });
  splice.start();
}
