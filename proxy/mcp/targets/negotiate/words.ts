import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import { metaOf, TASKS_EXTENSION } from '../../message/meta.ts';
import {
  type Era,
  FIRST_MODERN_VERSION,
  LATEST_LEGACY_VERSION,
  eraOf,
  isKnownVersion,
} from '../../message/versions.ts';
import type { TargetCall, TargetFailure } from '../contract.ts';

export const SERVER_INFO_META = 'io.modelcontextprotocol/serverInfo';
export const LOG_LEVEL_META = 'io.modelcontextprotocol/logLevel';
export const SUBSCRIPTION_META = 'io.modelcontextprotocol/subscriptionId';

/** What a modern server tells of itself, as an answer to `initialize`. */
export function asInitialized(discovered: JsonObject, name: string, requested: unknown): JsonObject {
  const { capabilities, instructions } = discovered;
  const told = metaOf(discovered)?.[SERVER_INFO_META] ?? discovered['serverInfo'];
  return {
    protocolVersion: legacyVersion(requested),
    capabilities: legacyCapabilities(isJsonObject(capabilities) ? capabilities : {}),
    serverInfo: isJsonObject(told) ? told : { name, version: '' },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** What a legacy server tells of itself, as an answer to `server/discover`. */
export function asDiscovered(initialized: JsonObject): JsonObject {
  const { capabilities, instructions, serverInfo, protocolVersion } = initialized;
  const versions = [FIRST_MODERN_VERSION];
  // Tasks of these versions belong to a session, and there is none.
  const { tasks: _tasks, ...kept } = isJsonObject(capabilities) ? capabilities : {};
  if (typeof protocolVersion === 'string' && !versions.includes(protocolVersion)) versions.push(protocolVersion);
  return {
    supportedVersions: versions,
    capabilities: kept,
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(isJsonObject(serverInfo) ? { _meta: { [SERVER_INFO_META]: serverInfo } } : {}),
  };
}

/** The one that a legacy client asks for, where it is known. */
export function legacyVersion(requested: unknown): string {
  return typeof requested === 'string' && isKnownVersion(requested) && eraOf(requested) === 'legacy'
    ? requested
    : LATEST_LEGACY_VERSION;
}

function legacyCapabilities(capabilities: JsonObject): JsonObject {
  const { extensions, ...others } = capabilities;
  if (!isJsonObject(extensions)) return capabilities;
  const { [TASKS_EXTENSION]: _tasks, ...rest } = extensions;
  return Object.keys(rest).length === 0 ? others : { ...others, extensions: rest };
}

export function objectIn(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return isJsonObject(value) ? value : undefined;
}

/** The capabilities that a server has told, by section. */
export function has(capabilities: JsonObject, section: string, feature: string): boolean {
  return objectIn(capabilities, section)?.[feature] === true;
}

export function eraFor(call: TargetCall): Era {
  return call.version === null ? 'legacy' : eraOf(call.version);
}

/** A session that was resumed goes on in the client's version: that of the target was agreed elsewhere. */
export function inVersion(call: TargetCall, { version }: { readonly version: string }): TargetCall {
  return version === '' || version === call.version ? call : { ...call, version };
}

/** Its client would talk to a session that is not the one that it knows: it has to begin anew. */
export const unrestorable: TargetFailure = {
  kind: 'forgotten',
  message: 'the target knows the session no more, and what it was like is not known here',
};
