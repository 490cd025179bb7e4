import type { Duplex } from 'node:stream';

import { refusalOf } from '../backends/refusal.ts';
import { UpstreamError, type UpstreamResponse } from '../backends/upstream.ts';
import { Headers } from '../exchange/headers.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { refuse } from '../exchange/refusal.ts';
import { Splice } from '../listener/splice.ts';
import type { BackendProgram } from './program.ts';
import type { RequestRun } from './run.ts';
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
export function takeOverUpgrade(run: RequestRun, response: UpstreamResponse): HttpResponse | null {
  const { exchange } = run;
  const asked = exchange.request.upgrade;
  const offered = response.headers.get('upgrade') ?? '';
  if (response.upgraded === null || asked === null || asked.toLowerCase() !== offered.toLowerCase()) {
    response.upgraded?.destroy();
    const tried = offered === '' ? 'nothing' : offered;
    return run.refuse(
      refuse(
        502,
        'UpstreamFailure',
        `request upgrade failed, backend tried ${tried} but ${asked ?? 'nothing'} was requested`,
      ),
    );
  }
  const client = exchange.transport.takeOver(101, response.headers);
  if (client === null) {
    response.upgraded.destroy();
    return run.refuse(cannotUpgrade);
  }
  if (exchange.trace !== null) tracing.responseSnapshot(run, 'final response', response);
  join(run, client, response.upgraded, 101);
  return null;
}

/** `frontendPolicies.connect.mode: route`: 200 and a raw tunnel to the backend that the route chose. */
export async function openConnectTunnel(run: RequestRun, backend: BackendProgram): Promise<HttpResponse | null> {
  const { exchange, runtime } = run;
  const picked = backend.resolved.pickTunnel(exchange.request.authority);
  if (picked.kind === 'refused') return run.refuse(picked.refusal);
  try {
    const upstream = await runtime.pools.openTunnel(picked.origin);
    const client = exchange.transport.takeOver(200, new Headers());
    if (client === null) {
      upstream.destroy();
      return run.refuse(exchange.clientGone ? cannotUpgrade : cannotTunnel);
    }
    join(run, client, upstream, 200);
    return null;
  } catch (error) {
    const failure =
      error instanceof UpstreamError ? error : new UpstreamError('connect', String(error), { cause: error });
    return run.refuse(refusalOf(failure));
  }
}

function join(run: RequestRun, client: Duplex, upstream: Duplex, status: number): void {
  run.tunnelStatus = status;
  const splice = new Splice(client, upstream, {
    idleMs: TUNNEL_IDLE_MS,
    onEnd: (end) => {
      const bytes = end.bytesSent;
      run.finish(end.error === null ? { kind: 'complete', bytes } : { kind: 'cut', bytes, error: end.error });
    },
  });
  splice.start();
}
