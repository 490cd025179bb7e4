import { outcomeOf } from '../backends/health.ts';
import { BufferedBody, emptyBody } from '../exchange/body.ts';
import { collect } from '../exchange/collect.ts';
import { stripResponseHopByHop } from '../exchange/hop-by-hop.ts';
import type { Connection } from './connection.ts';
import { type CallOptions, ServiceError, type ServiceRequest, type ServiceResponse } from './contract.ts';
import { ServiceCall, type ServiceDeps } from './service-call.ts';

/** One HTTP call, its answer read whole. Throws a `ServiceError`. */
export async function callHttp(
  deps: ServiceDeps,
  connection: Connection,
  call: { readonly request: ServiceRequest; readonly options: CallOptions & { readonly maxResponseBytes: number } },
): Promise<ServiceResponse> {
  const { request, options } = call;
  const running = new ServiceCall(deps, connection, {
    ...request,
    // The call's own when something is written into them.
    headers: connection.changeHeaders === null && !options.spans ? request.headers : request.headers.clone(),
    body: request.body === null || request.body.byteLength === 0 ? emptyBody : new BufferedBody(request.body),
    http2: false,
    limits: { totalMs: connection.timeoutMs ?? options.timeoutMs, headMs: null },
    options,
  });
  const { status, headers, body } = await running.response;
  const stop = new AbortController();
  running.onGivenUp = (error) => stop.abort(error);
  const collected = await collect(body, options.maxResponseBytes, stop.signal);
  switch (collected.kind) {
    case 'whole':
      running.finish(outcomeOf(status));
      stripResponseHopByHop(headers);
      return { status, headers, body: collected.body.bytes };
    case 'overflow': {
      collected.rest.cancel();
      const message = `the service answered with more than ${options.maxResponseBytes} bytes`;
      throw running.failed(new ServiceError('tooLarge', message));
    }
    case 'failed':
      throw running.failed(collected.error);
  }
}
