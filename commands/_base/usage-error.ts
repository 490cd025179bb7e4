import { GwError, exitCodes } from '../../src/shared/errors.ts';

/** Wrong usage: exit code 2. */
export function usageError(message: string, hint?: string): GwError {
  return new GwError(message, { code: 'GW_USAGE', exitCode: exitCodes.usage, hint });
}
