import { GwError } from '../../src/shared/errors.ts';

/** A policy that cannot be compiled: a configuration error, raised at load. */
export function invalidPolicy(source: string, policy: string, problem: string): GwError {
  return new GwError(`${policy} from ${source}: ${problem}`, { code: 'GW_POLICY_INVALID' });
}
