import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Clock } from '../../../exchange/wait.ts';
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  metaOf,
  withEnvelope,
  withoutClientFeatures,
} from '../../message/meta.ts';
import { eraOf, FIRST_MODERN_VERSION, type Era, LATEST_LEGACY_VERSION } from '../../message/versions.ts';
import type { TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { ask } from './ask.ts';
import type { Knowledge } from './knowledge.ts';
import { dropped, refusesEra } from './rejection.ts';
import { legacyVersion, objectIn } from './words.ts';

/** What a conversation has found out about the other side. */
export interface Peer {
  readonly kind: 'peer';
  readonly era: Era;
  /** That messages to it are written in. */
  readonly version: string;
  /** Its answer to `initialize` or `server/discover`; null where somebody else got it, or nobody has asked. */
  readonly told: JsonObject | null;
}

/** Who speaks to the target: a client, or the gateway where no client has told its name. */
export interface Hello {
  readonly clientInfo: JsonObject;
  readonly capabilities: JsonObject;
  /** Of the legacy versions. */
  readonly version: string;
}

export interface Handshaking {
  readonly connection: TargetConnection;
  readonly knowledge: Knowledge;
  readonly call: TargetCall;
  readonly hello: Hello;
  readonly transport: string;
  readonly clock: Clock;
  /** What the target tells of itself is wanted, not only what it speaks. */
  readonly curious: boolean;
  readonly stop: AbortSignal;
}

/**
 * Finds out which generation the target speaks, beginning with that of the client unless it is known to be in vain, and does
 * the handshake if there is one.
 */
export async function meet(era: Era, parts: Handshaking): Promise<Peer | TargetFailure> {
  const { knowledge } = parts;
  const other = era === 'legacy' ? 'modern' : 'legacy';
  if (knowledge.speaks(era) === false && knowledge.speaks(other) === true) {
    const peer = await greet(other, parts);
    if (peer.kind === 'peer' || !refusesEra(other, peer)) return peer;
    dropped(peer);
    knowledge.learn(other, false);
  }
  const first = await greet(era, parts);
  if (first.kind === 'peer' || !(refusesEra(era, first) || (await isMute(era, first, parts)))) return first;
  const second = await greet(other, parts);
  if (second.kind !== 'peer') {
    // Neither: the target is none, or cannot say so at the moment. The client hears about its own generation.
    dropped(second);
    return first;
  }
  dropped(first);
  knowledge.learn(era, false);
  return second;
}

/** Programs are near: one that says nothing for so long does not know what it is asked. */
const SILENCE_MS = 5000;
/** One that has ended is not started again sooner. */
const RESTART_MS = 300;

/**
 * Whether a program has ended, or kept silent, over being asked what only modern servers know: older ones may want the
 * handshake first. Servers elsewhere that do not answer are down.
 */
async function isMute(era: Era, failure: TargetFailure, { transport, clock, stop }: Handshaking): Promise<boolean> {
  if (era !== 'modern' || transport !== 'stdio' || failure.kind !== 'broken' || stop.aborted) return false;
  await new Promise<void>((resolve) => {
    const over = (): void => {
      unschedule();
      stop.removeEventListener('abort', over);
      resolve();
    };
    const unschedule = clock.schedule(over, RESTART_MS);
    stop.addEventListener('abort', over);
  });
  return !stop.aborted;
}

async function greet(era: Era, parts: Handshaking): Promise<Peer | TargetFailure> {
  const peer = await (era === 'legacy' ? initialize(parts) : discover(parts));
  if (peer.kind === 'peer') parts.knowledge.learn(era, true);
  return peer;
}

async function initialize({ connection, call, hello, stop }: Handshaking): Promise<Peer | TargetFailure> {
  const params = { protocolVersion: hello.version, capabilities: hello.capabilities, clientInfo: hello.clientInfo };
  const request = { kind: 'request', id: 'gw-initialize', method: 'initialize', params } as const;
  const answer = await ask(connection, request, { ...call, version: null }, stop);
  if (answer.kind !== 'result') return answer;
  const peer = initialized(answer.result);
  const notice = { kind: 'notification', method: 'notifications/initialized', params: undefined } as const;
  const failure = await connection.post(notice, { ...call, version: peer.version });
  return failure ?? peer;
}

/** What the answer to `initialize` tells. */
export function initialized(result: JsonObject): Peer {
  const { protocolVersion } = result;
  const version = typeof protocolVersion === 'string' ? protocolVersion : LATEST_LEGACY_VERSION;
  return {
    kind: 'peer',
    era: 'legacy',
    version: eraOf(version) === 'legacy' ? version : LATEST_LEGACY_VERSION,
    told: result,
  };
}

async function discover(parts: Handshaking): Promise<Peer | TargetFailure> {
  const { connection, knowledge, call, hello, curious } = parts;
  const version = FIRST_MODERN_VERSION;
  // There is no handshake: who is known to speak it needs not be asked.
  if (!curious && knowledge.speaks('modern') === true) return { kind: 'peer', era: 'modern', version, told: null };
  const { clientInfo, capabilities: clientCapabilities } = hello;
  const params = withEnvelope(undefined, { version, clientInfo, clientCapabilities });
  const request = { kind: 'request', id: 'gw-discover', method: 'server/discover', params } as const;
  const answer = await patiently(parts, (stop) => ask(connection, request, { ...call, version }, stop));
  if (answer.kind !== 'result') return answer;
  const versions = answer.result['supportedVersions'];
  // Some servers have an empty result for whatever they do not know.
  if (!Array.isArray(versions) || !versions.includes(version))
    return { kind: 'rpc', error: { code: -32022, message: `the target does not speak ${version}` } };
  return { kind: 'peer', era: 'modern', version, told: answer.result };
}

/** Asks a program for a while, and others for as long as the client likes. */
async function patiently<T>(
  { transport, clock, stop }: Handshaking,
  asks: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  if (transport !== 'stdio') return asks(stop);
  const impatience = new AbortController();
  const unschedule = clock.schedule(() => impatience.abort(), SILENCE_MS);
  const answer = await asks(AbortSignal.any([stop, impatience.signal]));
  unschedule();
  return answer;
}

/** What a legacy client says of itself in its `initialize`; without sessions, targets cannot ask it anything. */
export function helloOf(params: JsonObject | undefined, answers: boolean): Hello {
  const offered = answers ? params : withoutClientFeatures('initialize', params);
  return {
    clientInfo: objectIn(offered, 'clientInfo') ?? {},
    capabilities: objectIn(offered, 'capabilities') ?? {},
    version: legacyVersion(offered?.['protocolVersion']),
  };
}

/** What a modern client says of itself with each request; legacy targets could only ask it in ways that it does not know. */
export function helloIn(params: JsonObject | undefined, otherwise: Hello): Hello {
  const meta = metaOf(withoutClientFeatures('', params));
  return {
    clientInfo: objectIn(meta, CLIENT_INFO_META) ?? otherwise.clientInfo,
    capabilities: objectIn(meta, CLIENT_CAPABILITIES_META) ?? {},
    version: otherwise.version,
  };
}
