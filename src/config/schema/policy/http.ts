import { z } from 'zod';
import { object } from '../build.ts';
import { positiveDuration } from '../scalars.ts';

/** `http` of a backend: protocol version and deadline. */
export const backendHttp = object(
  'How HTTP is spoken to the backend.',
  {
    version: z
      .enum(['HTTP/1.1', 'HTTP/2.0'])
      .optional()
      .describe('Version of HTTP. Default: by application protocol, gRPC and what the client speaks.'),
    requestTimeout: positiveDuration.optional().describe('Up to the head of the response.'),
  },
  'BackendHttp',
);
