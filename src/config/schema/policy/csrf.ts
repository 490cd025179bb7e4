import { z } from 'zod';
import { object } from '../build.ts';

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?$/i;

/** `csrf`: refuses state-changing requests from foreign pages. */
export const csrf = object(
  'Refuses state-changing requests that come from pages of other origins.',
  {
    additionalOrigins: z
      .array(z.string().max(512).regex(ORIGIN, { error: 'expected an origin: scheme://host or scheme://host:port' }))
      .max(16)
      .default([])
      .describe('Origins that may, as scheme://host or scheme://host:port.'),
  },
  'Csrf',
);
