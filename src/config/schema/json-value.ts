import { z } from 'zod';
import type { JsonValue } from '../../shared/json.ts';

const inner: z.ZodType<JsonValue> = z.lazy(() => json);

/** Any JSON value. */
export const json: z.ZodType<JsonValue> = z
  .union([z.null(), z.boolean(), z.number(), z.string(), z.array(inner), z.record(z.string(), inner)])
  .meta({ id: 'Json', description: 'Any value.' });
