import { BufferedBody } from '../exchange/body.ts';
import { collect } from '../exchange/collect.ts';
import { Headers } from '../exchange/headers.ts';
import { queryOf } from '../exchange/message.ts';
import { refuse } from '../exchange/refusal.ts';
import { messageOf } from '../../src/shared/errors.ts';
import type { InFlight } from './in-flight.ts';
import type { UpstreamAnswer } from './upstream-answer.ts';

const tooLarge = refuse(413, 'InvalidRequest', 'request body too large');

/** Hands a request of an `internal` backend to the admin router of the control thread. */
export async function callAdminRouter(flight: InFlight, path: string | undefined): Promise<UpstreamAnswer> {
  const { exchange, engine, runtime } = flight;
  const { request } = exchange;
  const collected = await collect(flight.exchange.request.body, engine.config.frontend.http.maxBufferSize);
  if (collected.kind === 'failed') return refused(refuse(400, 'InvalidRequest', collected.error.message));
  if (collected.kind === 'overflow') {
    collected.rest.cancel();
    return refused(tooLarge);
  }
  try {
    const reply = await runtime.init.admin({
      method: request.method,
      path: path === undefined ? request.target : path + queryOf(request.target),
      headers: Object.fromEntries(request.headers),
      body: collected.body.bytes.byteLength === 0 ? null : collected.body.bytes,
    });
    const response = {
      status: reply.status,
      headers: Headers.from(Object.entries(reply.headers)),
      body: new BufferedBody(Buffer.from(reply.body)),
    };
    return { kind: 'response', response };
  } catch (error) {
    return refused(refuse(503, 'UpstreamFailure', `upstream call failed: ${messageOf(error)}`));
  }
}

function refused(refusal: ReturnType<typeof refuse>): UpstreamAnswer {
  return { kind: 'refused', refusal, error: null };
}
