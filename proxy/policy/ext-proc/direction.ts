import type { Exchange } from '../../exchange/exchange.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import type { HeaderList, HeaderMutation, ProcessingRequest } from '../../services/messages/process.ts';
import { requestList, responseList } from './header-list.ts';
import type { Side } from './modes.ts';
import { mutateRequest, mutateResponse } from './mutation.ts';

/** What is particular to requests, or to responses. */
export interface Direction {
  readonly side: Side;
  readonly message: HttpRequest | HttpResponse;
  readonly hasBody: boolean;
  headersMessage(endOfStream: boolean): ProcessingRequest;
  bodyMessage(body: Uint8Array, endOfStream: boolean): ProcessingRequest;
  trailersMessage(trailers: HeaderList): ProcessingRequest;
  mutate(mutation: HeaderMutation | null): void;
}

/** What follows the head of an upgrade is no body. */
export function requestDirection({ request }: Exchange): Direction {
  return {
    side: 'request',
    message: request,
    hasBody: request.body.length !== 0 && request.upgrade === null && request.method !== 'CONNECT',
    headersMessage: (endOfStream) => ({ requestHeaders: { headers: requestList(request), endOfStream } }),
    bodyMessage: (body, endOfStream) => ({ requestBody: { body, endOfStream } }),
    trailersMessage: (trailers) => ({ requestTrailers: { trailers } }),
    mutate: (mutation) => mutateRequest(request, mutation),
  };
}

export function responseDirection(response: HttpResponse): Direction {
  return {
    side: 'response',
    message: response,
    hasBody: response.body.length !== 0,
    headersMessage: (endOfStream) => ({ responseHeaders: { headers: responseList(response), endOfStream } }),
    bodyMessage: (body, endOfStream) => ({ responseBody: { body, endOfStream } }),
    trailersMessage: (trailers) => ({ responseTrailers: { trailers } }),
    mutate: (mutation) => mutateResponse(response, mutation),
  };
}
