import { object } from '../build.ts';
import { positiveDuration } from '../scalars.ts';

/** `timeout`: how long a request may take. */
export const timeout = object(
  'How long a request may take.',
  {
    requestTimeout: positiveDuration.optional().describe('Up to the head of the response, with delays and retries.'),
    backendRequestTimeout: positiveDuration.optional().describe('Up to the head of the response, for each try.'),
  },
  'Timeout',
);
