import OpenAI from 'openai';

import type { Failure } from '../client.ts';

export const openaiErrors = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  429: 'RateLimitError',
  500: 'InternalServerError',
} as const;

/** What an error of the library `openai` tells. */
export function openaiFailure(error: unknown): Failure {
  if (!(error instanceof OpenAI.APIError)) throw error;
  return {
    kind: error.constructor.name,
    // `as`: the library leaves the type open.
    status: error.status as number | undefined,
    message: error.message,
    retryAfter: (error.headers as Headers | undefined)?.get('retry-after'),
  };
}
