import { z } from 'zod';
import { exactlyOne, object } from '../build.ts';
import { cel } from '../scalars.ts';

/** Rules over expressions: any true `deny` refuses, every `require` has to hold, one `allow` has to hold when there are any. */
export const authorization = object(
  'Allows and denies by expressions.',
  {
    rules: z
      .array(
        z.union([
          cel,
          exactlyOne(
            object('One rule; exactly one key.', {
              allow: cel.optional(),
              deny: cel.optional(),
              require: cel.optional(),
            }),
            'a rule',
            ['allow', 'deny', 'require'],
          ),
        ]),
      )
      .max(256)
      .describe(
        'A bare text is an `allow` rule. Any true `deny` refuses; every `require` has to hold; with `allow` rules one of them has to hold.',
      ),
  },
  'Authorization',
);

export type AuthorizationSpec = z.output<typeof authorization>;
