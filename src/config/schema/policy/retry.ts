import { z } from 'zod';
import { object } from '../build.ts';
import { cel, duration, status } from '../scalars.ts';

/** `retry`: tries again when the backend fails. */
export const retry = object(
  'Tries again when a backend cannot be reached or answers with one of the codes.',
  {
    attempts: z.int().min(1).max(255).default(1).describe('Retries after the first try.'),
    backoff: duration.optional().describe('Pause before each retry.'),
    codes: z.array(status()).describe('Statuses that are tried again.'),
    precondition: cel.optional().describe('Expression over the request: only when it holds, retries happen.'),
    condition: cel
      .optional()
      .describe('Expression over the head of the response: when it holds, the try has failed, whatever its status.'),
  },
  'Retry',
);
