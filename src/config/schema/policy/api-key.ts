import { z } from 'zod';
import { object } from '../build.ts';
import { secret } from '../marks.ts';
import { authMode } from './jwt-auth.ts';
import { credentialLocation } from './credential-location.ts';

/** `apiKey`: a list of keys, or of their hashes. */
export const apiKey = object(
  'A list of keys that may call.',
  {
    keys: z.array(
      object('One key; exactly one of `key` and `keyHash`.', {
        key: secret(z.string().min(1)).optional(),
        keyHash: z
          .string()
          .regex(/^sha256:[0-9a-f]{64}$/)
          .optional()
          .describe('`sha256:` and 64 hexadecimal digits.'),
        metadata: z.unknown().optional().describe('Anything; expressions see it as `apiKey.<name>`.'),
        allowedModels: z
          .array(z.string().min(1))
          .optional()
          .describe('Model names or patterns with one `*`. Absent: all; empty: none.'),
      }),
    ),
    mode: authMode.default('strict'),
    location: credentialLocation.optional().describe('Default: the authorization header, after `Bearer `.'),
  },
  'ApiKey',
);
