import { BufferedBody } from '../../exchange/body.ts';
import type { HttpRequest, HttpResponse } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { ImmediateResponse } from '../../services/messages/process.ts';
import { freshHeaders } from './mutation.ts';

type Answer = HttpResponse & { readonly body: BufferedBody };

export type ImmediateAnswer =
  | { readonly kind: 'response'; readonly response: Answer }
  | { readonly kind: 'refusal'; readonly refusal: Refusal };

const MESSAGE = 'answered by external processing';
const MAX_DETAILS = 200;
const NOTHING = new Uint8Array(0);

/** The answer that the service wants the client to get: an error is a refusal, anything else a response. */
export function immediateAnswer(
  immediate: ImmediateResponse,
  { headers: asked }: Pick<HttpRequest, 'headers'>,
): ImmediateAnswer {
  const status = statusOf(immediate);
  const headers = freshHeaders(immediate.headers ?? null);
  const body = hasNoContent(status) ? NOTHING : (immediate.body ?? NOTHING);
  const grpcStatus = immediate.grpcStatus?.status;
  if (grpcStatus !== undefined && (asked.get('content-type') ?? '').startsWith('application/grpc')) {
    const message = body.byteLength === 0 ? told(immediate) : Buffer.from(body).toString('utf8');
    return { kind: 'refusal', refusal: { status, reason: 'ExtProc', message, headers, grpcStatus } };
  }
  if (body.byteLength > 0 && !headers.has('content-type')) headers.append('content-type', 'text/plain');
  if (status >= 400)
    return { kind: 'refusal', refusal: { status, reason: 'ExtProc', message: told(immediate), headers, body } };
  return { kind: 'response', response: { status, headers, body: new BufferedBody(body) } };
}

/** The same answer in the place of an error. */
export function refusalOf({ status, headers, body }: Answer): Refusal {
  return { status, reason: 'ExtProc', message: MESSAGE, headers, body: body.bytes };
}

/** 200 when the service sets none; what cannot end an exchange is the service's mistake. */
function statusOf({ status }: ImmediateResponse): number {
  const code = status?.code ?? 0;
  if (code === 0) return 200;
  return code >= 200 && code <= 599 ? code : 500;
}

/** RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5. */
function hasNoContent(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** For the log: the service's own words, when it has some. */
function told({ details = '' }: ImmediateResponse): string {
  // oxlint-disable-next-line no-control-regex
  const words = details.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  return words === '' ? MESSAGE : `${MESSAGE}: ${words.slice(0, MAX_DETAILS)}`;
}
