import { isSharedArrayBuffer } from 'node:util/types';

import { Secret } from '../shared/secret.ts';
import type { GatewayConfig } from './ir/gateway.ts';

/** Key that marks a sealed secret; no configured name can contain a NUL. */
const TAG = '\u0000secret';

declare const sealed: unique symbol;

/** A configuration as plain data that `postMessage` can clone; its secrets are readable in it, so it is only ever handed to a worker thread. */
export interface SealedConfig {
  readonly [sealed]: true;
}

/** Turns a configuration into structured-clonable data for a worker thread. */
export function seal(config: GatewayConfig): SealedConfig {
  return sealValue(config) as SealedConfig; // the brand exists only in types
}

/** The configuration again, in the thread that received it. */
export function unseal(data: SealedConfig): GatewayConfig {
  return unsealValue(data) as GatewayConfig; // made by seal() of the same process
}

function sealValue(value: unknown): unknown {
  if (value instanceof Secret) return { [TAG]: value.reveal() };
  return mapChildren(value, sealValue);
}

function unsealValue(value: unknown): unknown {
  if (isTagged(value)) return new Secret(value[TAG]);
  return mapChildren(value, unsealValue);
}

function isTagged(value: unknown): value is { readonly [TAG]: string } {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, TAG);
}

function mapChildren(value: unknown, map: (child: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(map);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || isSharedArrayBuffer(value))
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, map(child)]));
}
