import type { Segment, Variable } from '../../../src/cel/compile/host.ts';
import { fieldText, firstValue, HeaderMap } from '../../../src/cel/library/headers.ts';
import { uint } from '../../../src/cel/value/number.ts';
import { timestampOfMs } from '../../../src/cel/value/time.ts';
import type { Value } from '../../../src/cel/value/value.ts';
import { BufferedBody, type Body } from '../../exchange/body.ts';
import { pathOf, type HttpRequest, type HttpResponse } from '../../exchange/message.ts';
import type { EvalContext } from '../contract.ts';
import { view, type Reader, type Readers } from './view.ts';

export type IsSensitive = (headerName: string) => boolean;

/** `request`, as policies have left it so far. */
export function requestVariable(isSensitive: IsSensitive): Variable<EvalContext> {
  const fields: Readers = {
    method: onRequest((request) => request.method),
    uri: onRequest(uriOf),
    host: onRequest((request) => (request.authority === '' ? null : fieldText(request.authority))),
    scheme: onRequest((request) => request.scheme),
    path: onRequest((request) => fieldText(pathOf(request.target))),
    pathAndQuery: onRequest((request) => fieldText(request.target)),
    version: onRequest((request) => (request.version === 'HTTP/2.0' ? 'HTTP/2' : request.version)),
    headers: onRequest((request) => new HeaderMap(request.headers, isSensitive)),
    body: ({ request, progress }) => wholeBody(request?.body) ?? progress?.bodies.request ?? undefined,
    bodyPrefix: ({ request, progress }) => wholeBody(request?.body) ?? progress?.bodies.requestPrefix ?? undefined,
    startTime: ({ startedAt }) => timeOf(startedAt),
    endTime: ({ progress }) => timeOf(progress?.endedAt),
  };
  return view(fields, {
    present: ({ request }) => request !== null,
    // `request.headers["x"]` is the first value; most expressions read nothing else.
    deep: ([first, second]) =>
      first.name === 'headers' && second.indexed ? firstHeader(second.name.toLowerCase()) : undefined,
  });
}

function firstHeader(name: string): Reader {
  return ({ request }) => (request === null ? undefined : firstValue(request.headers, name));
}

function onRequest(read: (request: HttpRequest) => Value | undefined): Reader {
  return ({ request }) => (request === null ? undefined : read(request));
}

function uriOf(request: HttpRequest): string | undefined {
  const target = request.target === '*' ? '' : request.target;
  return fieldText(request.authority === '' ? request.target : `${request.scheme}://${request.authority}${target}`);
}

/** `response`: of the backend, or the gateway's own, as policies have left it so far. */
export function responseVariable(isSensitive: IsSensitive): Variable<EvalContext> {
  const fields: Readers = {
    code: onResponse((response) => uint(response.status)),
    grpcStatus: ({ response, progress }) => grpcStatusOf(response, progress?.grpcStatus ?? null),
    headers: onResponse((response) => new HeaderMap(response.headers, isSensitive)),
    body: ({ response, progress }) => wholeBody(response?.body) ?? progress?.bodies.response ?? undefined,
    bodyPrefix: ({ response, progress }) => wholeBody(response?.body) ?? progress?.bodies.responsePrefix ?? undefined,
  };
  return view(fields, { present: ({ response }) => response !== null });
}

function onResponse(read: (response: HttpResponse) => Value): Reader {
  return ({ response }) => (response === null ? undefined : read(response));
}

function grpcStatusOf(response: HttpResponse | null, known: number | null): Value | undefined {
  const text = response?.headers.get('grpc-status');
  const status = known ?? (text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : null);
  return status === null ? undefined : uint(status);
}

/** A body that is in memory as a whole. */
function wholeBody(body: Body | undefined): Uint8Array | undefined {
  if (body instanceof BufferedBody) return body.bytes;
  return body?.length === 0 ? new Uint8Array() : undefined;
}

/** From the scale of `performance.now()`. */
function timeOf(at: number | null | undefined): Value | undefined {
  return at === null || at === undefined ? undefined : timestampOfMs(performance.timeOrigin + at);
}

/** Whether a path below a variable reaches into its body; a variable as a whole does. */
export function readsBody(path: readonly Segment['name'][]): boolean {
  const [first] = path;
  return first === undefined || first === 'body' || first === 'bodyPrefix';
}
