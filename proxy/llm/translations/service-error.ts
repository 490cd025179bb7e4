import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { errorType } from '../formats/completions/wire.ts';
import { list, number, object, objects, parse, text } from '../json.ts';

/** The most that is shown of a body that is no error of any known kind, characters. */
const SHOWN = 1000;

/** What a service says is wrong. */
export interface ServiceError {
  readonly message: string;
  readonly type?: string | undefined;
  readonly code?: JsonValue | undefined;
  /** Google's canonical code (`RESOURCE_EXHAUSTED`). */
  readonly status?: string | undefined;
}

/** The error in a body, whatever the service is made like; undefined for what is no JSON object. */
export function serviceError(body: string): ServiceError | undefined {
  const parsed = parse(body);
  // Google wraps errors of streams into a list.
  const whole = object(parsed) ?? objects(list(parsed))[0];
  if (whole === undefined) return undefined;
  const error = object(whole['error']) ?? objects(whole['errors'])[0] ?? whole;
  const message = firstText([error['message'], whole['error'], whole['message'], error['detail']]);
  return {
    message: message ?? body.slice(0, SHOWN),
    type: error === whole ? undefined : text(error['type']),
    code: error['code'],
    status: number(error['code']) === undefined ? undefined : text(error['status']),
  };
}

/** As Anthropic's clients expect it; undefined for what is no JSON object. */
export function messagesError(status: number, body: string): JsonObject | undefined {
  const error = serviceError(body);
  if (error === undefined) return undefined;
  return { type: 'error', error: { type: filled(error.type) ?? messagesType(status), message: error.message } };
}

/** As OpenAI's clients expect it; an error that is made like OpenAI's passes as it is. */
export function openaiError(status: number, body: string): JsonObject {
  const error = serviceError(body);
  if (error === undefined) return envelope(plainMessage(status, body), errorType(status), null);
  if (error.status !== undefined) return envelope(error.message, googleType(error.status), error.status);
  const whole = object(parse(body));
  if (whole !== undefined && text(object(whole['error'])?.['message']) !== undefined) return whole;
  return envelope(error.message, filled(error.type) ?? errorType(status), error.code ?? null);
}

/** An error of a service that is not made like OpenAI, for OpenAI's clients: `code` is the service's own word for it. */
export function foreignError(status: number, message: string, code: string | null): JsonObject {
  return { event_id: null, error: { type: foreignType(status), message, param: null, code } };
}

function foreignType(status: number): string {
  return status === 404 ? 'not_found_error' : errorType(status);
}

function envelope(message: string, type: string, code: JsonValue): JsonObject {
  return { error: { message, type, param: null, code } };
}

/** Of a body that is no JSON: pages are for browsers. */
export function plainMessage(status: number, body: string): string {
  const shown = body.trim();
  if (shown === '' || shown.startsWith('<')) return `the service answered with status ${status}`;
  return shown.slice(0, SHOWN);
}

/** The message of an error that comes as an event of a stream. */
export function streamedError(data: JsonObject): ServiceError | undefined {
  const { error } = data;
  if (error === undefined || error === null) return undefined;
  const told = object(error);
  const message = firstText([told?.['message'], error, data['message']]) ?? JSON.stringify(error).slice(0, SHOWN);
  return { message, type: text(told?.['type']), code: told?.['code'] };
}

function firstText(values: readonly (JsonValue | undefined)[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function messagesType(status: number): string {
  switch (status) {
    case 400:
      return 'invalid_request_error';
    case 401:
    case 403:
      return 'authentication_error';
    case 404:
      return 'not_found_error';
    case 429:
      return 'rate_limit_error';
    default:
      return 'api_error';
  }
}

function googleType(status: string): string {
  switch (status) {
    case 'INVALID_ARGUMENT':
    case 'FAILED_PRECONDITION':
      return 'invalid_request_error';
    case 'NOT_FOUND':
      return 'not_found_error';
    case 'PERMISSION_DENIED':
    case 'UNAUTHENTICATED':
      return 'authentication_error';
    case 'RESOURCE_EXHAUSTED':
      return 'rate_limit_error';
    default:
      return 'api_error';
  }
}
