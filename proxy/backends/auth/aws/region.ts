import type { AwsAuth } from '../../../../src/config/ir/index.ts';
import { GwError } from '../../../../src/shared/errors.ts';
import type { Cloud } from '../cloud.ts';

/** Where requests are signed for: as configured, else as the environment says. Throws a `GwError` when neither does. */
export function regionOf({ region }: AwsAuth, cloud: Cloud): string {
  const found = region ?? cloud.env('AWS_REGION') ?? cloud.env('AWS_DEFAULT_REGION');
  if (found !== undefined) return found;
  throw new GwError('backendAuth.aws: no region is set', {
    code: 'GW_POLICY_INVALID',
    hint: 'set aws.region, or AWS_REGION in the environment',
  });
}
