import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import { knownVersions, LATEST_LEGACY_VERSION } from '../../message/versions.ts';
import type { Answer } from '../calls/gather.ts';
import type { Plan } from '../plan.ts';
import { capabilities, instructions } from './capabilities.ts';

/**
 * One handshake out of several. The version is the oldest that anybody named: versions are dates, so the least text.
 */
export function mergedInitialize(plan: Plan, params: JsonObject | undefined, answers: readonly Answer[]): JsonObject {
  return {
    protocolVersion: lowest([params, ...answers.map(({ result }) => result)]),
    capabilities: capabilities(plan, answers),
    serverInfo: { name: plan.gateway.name, version: plan.gateway.version },
    instructions: instructions(plan, answers),
  };
}

/** One `server/discover` out of several: the versions that everybody speaks. */
export function mergedDiscover(plan: Plan, answers: readonly Answer[]): JsonObject {
  const spoken = answers.map(({ result }) => result['supportedVersions']);
  const { name, version } = plan.gateway;
  return {
    supportedVersions: knownVersions.filter((known) =>
      spoken.every((list) => Array.isArray(list) && list.includes(known)),
    ),
    capabilities: capabilities(plan, answers),
    instructions: instructions(plan, answers),
    _meta: { 'io.modelcontextprotocol/serverInfo': { name, version } },
  };
}

export function isInitializeResult(result: JsonObject): boolean {
  return typeof result['protocolVersion'] === 'string' && isJsonObject(result['capabilities']);
}

export function isDiscoverResult(result: JsonObject): boolean {
  return Array.isArray(result['supportedVersions']);
}

function lowest(said: readonly (JsonObject | undefined)[]): string {
  let least: string | null = null;
  for (const one of said) {
    const version = one?.['protocolVersion'];
    if (typeof version === 'string' && (least === null || version < least)) least = version;
  }
  return least ?? LATEST_LEGACY_VERSION;
}
