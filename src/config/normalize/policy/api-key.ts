import { createHash } from 'node:crypto';

import { type KnownKey, packKeys } from '../../api-keys.ts';
import type { ApiKeyAuth } from '../../ir/policy/api-key.ts';
import type { Path } from '../../load/problem.ts';
import type { ApiKeySpec } from '../../schema/policy/api-key.ts';
import type { Context } from '../context.ts';
import { bearerLocation, credentialLocation } from './credential-location.ts';

/** Keys as their hashes; a key that is listed twice is a problem, since it has one owner. */
export function apiKey(context: Context, spec: ApiKeySpec, path: Path): ApiKeyAuth {
  const seen = new Map<string, number>();
  const keys = spec.keys.map((entry, index): KnownKey => {
    const digest = entry.keyHash === undefined ? sha256(entry.key ?? '') : entry.keyHash.slice(7).toLowerCase();
    const earlier = seen.get(digest);
    if (earlier === undefined) seen.set(digest, index);
    else context.report([...path, 'keys', index], 'GW_CONFIG_CONFLICT', `keys[${earlier}] is the same key`);
    if (digest === EMPTY)
      context.report(
        [...path, 'keys', index, 'keyHash'],
        'GW_CONFIG_VALUE',
        'is the hash of an empty key, which anybody has',
      );
    const { metadata, allowedModels } = entry;
    const owner = {
      ...(metadata === undefined ? {} : { metadata }),
      ...(allowedModels === undefined ? {} : { allowedModels }),
    };
    return { digest, owner };
  });
  return { mode: spec.mode, location: credentialLocation(spec.location, bearerLocation), keys: packKeys(keys) };
}

/** What a script writes whose variable was not set. */
const EMPTY = sha256('');

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
