import type { RpcMessage, RpcRequest } from '../../message/message.ts';
import { withoutClientFeatures } from '../../message/meta.ts';
import { resultFor } from '../../message/result-fields.ts';
import type { TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { initialized, type Peer } from './handshake.ts';
import type { Knowledge } from './knowledge.ts';
import { dropped, explained, refusesEra } from './rejection.ts';
import type { Relay } from './relay.ts';
import { failed } from './to-modern.ts';
import { asInitialized } from './words.ts';

export interface Introducing {
  readonly name: string;
  readonly connection: TargetConnection;
  readonly knowledge: Knowledge;
  /** Targets may ask the client. */
  readonly answers: boolean;
  /** The client's `initialize`. */
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly relay: Relay;
  /** The target has taken the client's handshake. */
  met(peer: Peer): void;
  /** The gateway finds out itself what the target speaks, preferring the modern versions. */
  meet(): Promise<Peer | TargetFailure>;
}

/** A client's own handshake; where the target has none, the gateway answers with what it has found out. */
export function introduce(parts: Introducing): void {
  const { connection, knowledge, answers, message, call, relay } = parts;
  if (knowledge.speaks('legacy') === false) {
    void answerFor(parts, null);
    return;
  }
  const params = answers ? message.params : withoutClientFeatures('initialize', message.params);
  let answered = false;
  relay.carry(
    connection.request(
      { ...message, params },
      { ...call, version: null },
      {
        onMessage: (each) => {
          answered ||= each.kind === 'result' || each.kind === 'error';
          heard(each, parts);
        },
        onEnd: (failure) => {
          if (failure !== null) void explained(failure).then((known) => refused(known, parts));
          else if (!answered) relay.onEnd(null);
        },
      },
    ),
  );
}

function heard(each: RpcMessage, parts: Introducing): void {
  const { knowledge, relay } = parts;
  if (each.kind === 'error') refused({ kind: 'rpc', error: each.error }, parts);
  else if (each.kind === 'result') {
    parts.met(initialized(each.result));
    knowledge.learn('legacy', true);
    relay.answer({ ...each, result: resultFor('legacy', 'initialize', each.result) });
  } else relay.onMessage(each);
}

function refused(failure: TargetFailure, parts: Introducing): void {
  if (parts.relay.over) return;
  if (refusesEra('legacy', failure)) void answerFor(parts, failure);
  else fail(failure, parts);
}

async function answerFor(parts: Introducing, refusal: TargetFailure | null): Promise<void> {
  const { knowledge, message, name, relay } = parts;
  const peer = await parts.meet();
  if (relay.over) return;
  if (peer.kind !== 'peer') {
    if (refusal !== null) dropped(peer);
    fail(refusal ?? peer, parts);
    return;
  }
  if (refusal !== null) {
    dropped(refusal);
    knowledge.learn('legacy', peer.era === 'legacy');
  }
  const told = peer.told ?? {};
  const result = peer.era === 'modern' ? asInitialized(told, name, message.params?.['protocolVersion']) : told;
  relay.answer({ kind: 'result', id: message.id, result });
}

function fail(failure: TargetFailure, { message, relay }: Introducing): void {
  if (failure.kind === 'rpc') relay.answer(failed(message, failure.error));
  else relay.onEnd(failure);
}
