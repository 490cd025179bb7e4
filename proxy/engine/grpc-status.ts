import type { Headers } from '../exchange/headers.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { PassingBody } from '../exchange/passing-body.ts';

/** The status of a response that has only headers; null when it is to come in the trailers, or when this is no gRPC. */
export function headerGrpcStatus(headers: Headers): number | null {
  const text = headers.get('grpc-status');
  const status = text === undefined ? Number.NaN : Number(text);
  return Number.isInteger(status) ? status : null;
}

/** Lets a gRPC body pass and tells the status in its trailers before the end is passed on. */
export function watchGrpcStatus(response: HttpResponse, onStatus: (status: number) => void): void {
  if (response.headers.get('content-type')?.startsWith('application/grpc') !== true) return;
  response.body = new PassingBody(response.body, (sink) => ({
    onData: (chunk) => sink.onData(chunk),
    onEnd(trailers) {
      const status = trailers === null ? null : headerGrpcStatus(trailers);
      if (status !== null) onStatus(status);
      sink.onEnd(trailers);
    },
    onError: (error) => sink.onError(error),
  }));
}
