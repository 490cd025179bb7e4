import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import { metaOf, TASKS_EXTENSION } from '../../message/meta.ts';
import { FIRST_MODERN_VERSION, LATEST_LEGACY_VERSION, eraOf, isKnownVersion } from '../../message/versions.ts';

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
  if (typeof protocolVersion === 'string' && !versions.includes(protocolVersion)) versions.push(protocolVersion);
  return {
    supportedVersions: versions,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
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
  const { extensions } = capabilities;
  if (!isJsonObject(extensions)) return capabilities;
  const { [TASKS_EXTENSION]: _tasks, ...rest } = extensions;
  return { ...capabilities, extensions: rest };
}

export function objectIn(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return isJsonObject(value) ? value : undefined;
}

/** The capabilities that a server has told, by section. */
export function has(capabilities: JsonObject, section: string, feature: string): boolean {
  return objectIn(capabilities, section)?.[feature] === true;
}
