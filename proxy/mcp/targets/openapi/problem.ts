import { GwError } from '../../../../src/shared/errors.ts';

/** A document that no tools can be made from. `place` is where in it, as a person would say. */
export function unusable(place: string, problem: string, hint?: string): GwError {
  return new GwError(`openapi: ${place}: ${problem}`, { code: 'GW_OPENAPI_INVALID', hint });
}
