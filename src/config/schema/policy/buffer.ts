import { z } from 'zod';
import { object } from '../build.ts';
import { byteSize } from '../scalars.ts';

const limit = object(
  'Reads a whole body before it goes on.',
  {
    maxBytes: byteSize
      .refine((bytes) => bytes > 0, { error: 'expected at least 1 byte' })
      .optional()
      .describe('Largest body. Default: `frontendPolicies.http.maxBufferSize`.'),
    failureMode: z
      .enum(['failClosed', 'failOpen'])
      .default('failClosed')
      .describe('`failClosed`: a larger body is an error (413, 502); `failOpen`: it goes on as a stream.'),
  },
  'BufferLimit',
);

/** `buffer`: reads whole bodies before they go on. */
export const buffer = object(
  'Reads whole bodies before they go on.',
  {
    request: limit.optional(),
    response: limit.optional(),
  },
  'Buffer',
);
