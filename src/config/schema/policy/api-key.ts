import { z } from 'zod';
import { exactlyOne, object } from '../build.ts';
import { json } from '../json-value.ts';
import { secret } from '../marks.ts';
import { modelPattern } from '../model-name.ts';
import { credentialLocation } from './credential-location.ts';
import { authMode } from './jwt-auth.ts';

/** What a script writes whose variable was not set. */
const EMPTY_KEY = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const key = exactlyOne(
  object('One key; exactly one of `key` and `keyHash`.', {
    key: secret(z.string().min(1).max(4096)).optional().describe('The key itself.'),
    keyHash: secret(
      z
        .string()
        .regex(/^sha256:[0-9a-fA-F]{64}$/, { error: 'expected sha256: and 64 hexadecimal digits' })
        .refine((hash) => hash.toLowerCase() !== EMPTY_KEY, {
          error: 'this is the hash of an empty key, which anybody has',
        }),
    )
      .optional()
      .describe('`sha256:` and the SHA-256 of the key, 64 hexadecimal digits.'),
    metadata: z.record(z.string(), json).optional().describe('What expressions know of the caller: `apiKey.<name>`.'),
    allowedModels: z
      .array(modelPattern)
      .max(1024)
      .optional()
      .describe('Models of `llm` that the key may ask for: names, or patterns with one `*`. Absent: all; empty: none.')
      .superRefine((names, context) => {
        if (names === undefined || names.length < 2 || !names.includes('*')) return;
        context.addIssue({
          code: 'custom',
          message: '`*` allows everything: it stands alone',
          path: [names.indexOf('*')],
          params: { code: 'GW_CONFIG_CONFLICT' },
        });
      }),
  }),
  'a key',
  ['key', 'keyHash'],
);

/** `apiKey`: a list of keys, or of their hashes. */
export const apiKey = object(
  'A list of keys that may call.',
  {
    keys: z.array(key).describe('The keys.'),
    mode: authMode
      .default('strict')
      .describe(
        '`strict`: a known key is needed; `optional`: none passes, an unknown one does not; `permissive`: everything passes.',
      ),
    location: credentialLocation
      .optional()
      .describe(
        'Where the key is. Default: the authorization header, after `Bearer `; under `llm` also `x-api-key`, `api-key`, `x-goog-api-key` and the query parameter `key`, the first that is there.',
      ),
  },
  'ApiKey',
);

export type ApiKeySpec = z.output<typeof apiKey>;
