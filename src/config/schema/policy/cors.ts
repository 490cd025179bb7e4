import { z } from 'zod';
import { object } from '../build.ts';
import { duration, headerName } from '../scalars.ts';

const ORIGIN = /^(\*|https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9*._-]+)(:[0-9]{1,5})?|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+)$/i;

const anyOr = <S extends z.ZodType>(item: S, what: string) => z.union([z.literal('*'), item], { error: () => what });
const list = <S extends z.ZodType>(item: S) => z.array(item).max(64).default([]);

const origin = z.string().max(512).regex(ORIGIN, {
  error: 'expected *, or an origin such as https://example.com, https://*.example.com or http://localhost:3000',
});

/** `cors`: lets browsers of other origins call. */
export const cors = object(
  'Lets pages of other origins call (Cross-Origin Resource Sharing).',
  {
    allowOrigins: list(origin).describe('`*`, an origin, or an origin with a wildcard such as https://*.example.com.'),
    allowMethods: list(anyOr(headerName, 'expected a method, or *')).describe('Methods, or `*`.'),
    allowHeaders: list(anyOr(headerName, 'expected a header name, or *')).describe('Request headers, or `*`.'),
    exposeHeaders: list(anyOr(headerName, 'expected a header name, or *')).describe(
      'Response headers that scripts may read.',
    ),
    allowCredentials: z.boolean().default(false).describe('Whether browsers may send cookies and credentials.'),
    maxAge: duration.optional().describe('How long browsers keep the answer to a preflight.'),
  },
  'Cors',
);

export type CorsSpec = z.output<typeof cors>;
