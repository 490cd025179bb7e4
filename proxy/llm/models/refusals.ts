import { type Refusal, refuse, type Reason } from '../../exchange/refusal.ts';
import type { Unreadable } from '../read-body.ts';

function coded(status: number, reason: Reason, code: string, message: string): Refusal {
  return { ...refuse(status, reason, message), code };
}

export const modelNotFound = coded(404, 'NotFound', 'model_not_found', 'Model not found');
export const modelDenied = coded(403, 'Authorization', 'model_authorization_denied', 'Model authorization denied');
export const modelNotAllowed = coded(
  403,
  'Authorization',
  'model_not_allowed',
  'Model is not allowed for this API key',
);

export const notJson = invalid('invalid_request_body', 'LLM request body must be valid JSON');
export const notForm = invalid('invalid_request_body', 'LLM request body must be valid multipart/form-data');
export const noModel = invalid('missing_model', "LLM request body is missing string field 'model'");
export const noModelInForm = invalid('missing_model', "LLM multipart request body is missing field 'model'");
export const noModelInQuery = invalid('missing_model', "LLM request is missing query parameter 'model'");
export const modelIsFile = invalid('invalid_model', "LLM multipart request field 'model' must be text");

/** What can be read may be nested too deeply to be written again. */
export const rewriteFailed = invalid('request_body_rewrite_failed', 'Failed to rewrite LLM request body');

function invalid(code: string, message: string): Refusal {
  return coded(400, 'InvalidRequest', code, message);
}

/** A body that could not be read; the status is that of what happened. */
export function unreadable(refusal: Refusal, why: Unreadable): Refusal {
  switch (why) {
    case 'tooLarge':
      return { ...refusal, code: 'request_body_too_large', message: 'LLM request body exceeded the buffer limit' };
    case 'encoding':
    case 'decoding':
      return { ...refusal, code: 'request_body_decode_failed', message: 'Failed to decode LLM request body' };
    case 'reading':
      return { ...refusal, code: 'request_body_read_failed' };
  }
}

export function notResolved(name: string): Refusal {
  const message = `Virtual model ${name} could not be resolved`;
  return coded(404, 'NotFound', 'virtual_model_not_resolved', message);
}

export function noMatchingTarget(name: string): Refusal {
  return invalid('virtual_model_no_matching_target', `Virtual model ${name} did not match any conditional target`);
}

export function targetNotFound(name: string, target: string): Refusal {
  const message = `Virtual model ${name} selected target ${target}, but no matching model was found`;
  return coded(404, 'NotFound', 'virtual_model_target_not_found', message);
}
