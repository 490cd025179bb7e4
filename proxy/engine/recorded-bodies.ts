/** Bodies that nothing waits for but that somebody wants to know of in the end are recorded while they stream. */
import { type Body, BufferedBody } from '../exchange/body.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { type Recording, recordedBody } from '../exchange/recording-body.ts';
import type { InFlight } from './in-flight.ts';

export function recordRequestBody(flight: InFlight): void {
  const { request } = flight.exchange;
  if (!flight.engine.observability.reads.requestBody || request.upgrade !== null || isKnown(request.body)) return;
  request.body = recordedBody(request.body, limitOf(flight), ({ bytes, truncated, complete }: Recording) => {
    flight.bodies.request = complete && truncated === 0 ? bytes : null;
    flight.bodies.requestPrefix = bytes;
  });
}

export function recordResponseBody(flight: InFlight, response: HttpResponse): void {
  const judged = flight.backend?.pipeline.unhealthy?.reads.responseBody === true;
  const wanted = judged || flight.engine.observability.reads.responseBody;
  if (!wanted || isKnown(response.body)) return;
  response.body = recordedBody(response.body, limitOf(flight), ({ bytes, truncated, complete }: Recording) => {
    flight.bodies.response = complete && truncated === 0 ? bytes : null;
    flight.bodies.responsePrefix = bytes;
  });
}

/** In memory already. */
function isKnown(body: Body): boolean {
  return body.length === 0 || body instanceof BufferedBody;
}

function limitOf(flight: InFlight): number {
  return flight.engine.config.frontend.http.maxBufferSize;
}
