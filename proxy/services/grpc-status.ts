import type { Headers } from '../exchange/headers.ts';
import { ServiceError } from './contract.ts';

/** The names of the gRPC statuses, by number. */
const NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

const MAX_MESSAGE = 500;

/** Reads the status from trailers, or from the headers of an answer without a body; undefined where there is none. */
export function statusIn(
  fields: Headers | null,
): { readonly status: number; readonly error: ServiceError | null } | undefined {
  const text = fields?.get('grpc-status');
  if (text === undefined) return undefined;
  const status = /^\d{1,9}$/.test(text) ? Number(text) : 2;
  if (status === 0) return { status, error: null };
  return { status, error: statusError(status, fields?.get('grpc-message') ?? '', detailsIn(fields)) };
}

/** An HTTP status other than 200 stands for a gRPC status, as the protocol maps them. */
export function httpStatusError(status: number): ServiceError {
  return statusError(fromHttp(status), `HTTP status ${status}`);
}

/** Binary metadata is base64, with or without padding. */
function detailsIn(fields: Headers | null): Uint8Array | null {
  const text = fields?.get('grpc-status-details-bin');
  return text === undefined ? null : Buffer.from(text, 'base64');
}

function statusError(status: number, message: string, grpcDetails: Uint8Array | null = null): ServiceError {
  const name = NAMES[status] ?? `status ${status}`;
  const text = decoded(message);
  return new ServiceError('status', text === '' ? name : `${name}: ${text}`, { grpcStatus: status, grpcDetails });
}

function fromHttp(status: number): number {
  switch (status) {
    case 400:
      return 13;
    case 401:
      return 16;
    case 403:
      return 7;
    case 404:
      return 12;
    case 429:
    case 502:
    case 503:
    case 504:
      return 14;
    default:
      return 2;
  }
}

/** `grpc-message` is UTF-8 in percent encoding; broken escapes stay as they are. Control characters become spaces. */
function decoded(message: string): string {
  const cut = message.slice(0, 3 * MAX_MESSAGE);
  let text = cut;
  try {
    text = decodeURIComponent(cut);
  } catch {
    // Shown as it was sent.
  }
  return text
    .replaceAll(/[\u0000-\u001f\u007f]+/g, ' ')
    .trim()
    .slice(0, MAX_MESSAGE);
}
