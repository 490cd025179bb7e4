import type { z } from 'zod';
import { object } from '../build.ts';
import { authorityChange, pathChange } from './request-redirect.ts';

/** `urlRewrite`: changes the URL that the backend sees. */
export const urlRewrite = object(
  'Changes the URL that the backend sees.',
  {
    authority: authorityChange.optional(),
    path: pathChange.optional(),
  },
  'UrlRewrite',
);

export type UrlRewriteSpec = z.output<typeof urlRewrite>;
