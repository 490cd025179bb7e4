import { z } from 'zod';
import { object } from '../build.ts';

/** `csrf`: refuses state-changing requests from foreign pages. */
export const csrf = object(
  'Refuses state-changing requests that come from pages of other origins.',
  {
    additionalOrigins: z
      .array(z.string().min(1))
      .max(16)
      .default([])
      .describe('Origins that may, as scheme://host or scheme://host:port.'),
  },
  'Csrf',
);
