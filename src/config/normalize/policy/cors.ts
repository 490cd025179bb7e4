import type { Cors } from '../../ir/policy/cors.ts';
import type { CorsSpec } from '../../schema/policy/cors.ts';

export function cors({ maxAge, ...spec }: CorsSpec): Cors {
  return { ...spec, maxAgeMs: maxAge };
}
