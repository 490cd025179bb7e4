import { createHash } from 'node:crypto';
import { isSharedArrayBuffer } from 'node:util/types';

import { Secret } from '../../src/shared/secret.ts';
import type { PolicyContext } from './contract.ts';

/**
 * Identity of one definition in its place: equal over reloads as long as neither changes, whatever else does. Secrets
 * count; none can be read from it.
 */
export function definitionKey(policy: string, spec: object, context: PolicyContext): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(revealed(spec)));
  return `${policy} ${context.phase} ${context.source} ${hash.digest('base64url')}`;
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() };
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (isSharedArrayBuffer(value)) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, revealed(part)]));
}
