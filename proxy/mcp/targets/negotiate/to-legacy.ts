import type { JsonObject } from '../../../../src/shared/json.ts';
import type { RpcMessage, RpcRequest } from '../../message/message.ts';
import { metaOf, withMeta, withoutEnvelope } from '../../message/meta.ts';
import { resultFor } from '../../message/result-fields.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { attempt, reply } from './ask.ts';
import type { Peer } from './handshake.ts';
import { asDiscovered, has, LOG_LEVEL_META, objectIn, SUBSCRIPTION_META } from './words.ts';
import type { Relay } from './relay.ts';

/** A request of a modern client at a legacy target, in the words of the latter. */
export function legacyRequest(message: RpcRequest): RpcRequest {
  const params = withoutEnvelope(message.params);
  if (metaOf(params)?.[LOG_LEVEL_META] === undefined) return { ...message, params };
  return { ...message, params: withMeta(params, { [LOG_LEVEL_META]: undefined }) };
}

/** The answer to `server/discover`, from what the target told in the handshake. */
export function discovered(message: RpcRequest, told: JsonObject): RpcMessage {
  return { kind: 'result', id: message.id, result: resultFor('modern', message.method, asDiscovered(told)) };
}

/** Tells the target which log messages the client of this one request wants; who has none of it is not asked. */
export async function setLevel(
  connection: TargetConnection,
  message: RpcRequest,
  { call, peer }: { call: TargetCall; peer: Peer },
): Promise<void> {
  const level = metaOf(message.params)?.[LOG_LEVEL_META];
  if (level === undefined || objectIn(peer.told ?? {}, 'capabilities')?.['logging'] === undefined) return;
  // The call itself is worth more than its log.
  await attempt(connection, { kind: 'request', id: 'gw-level', method: 'logging/setLevel', params: { level } }, call);
}

/** `subscriptions/listen` of a modern client: the stream and the subscriptions of a legacy session, for as long as it lasts. */
export class Subscription {
  readonly #connection: TargetConnection;
  readonly #message: RpcRequest;
  readonly #call: TargetCall;
  readonly #relay: Relay;
  readonly #wanted: JsonObject;

  constructor(connection: TargetConnection, message: RpcRequest, parts: { call: TargetCall; relay: Relay }) {
    this.#connection = connection;
    this.#message = message;
    this.#call = parts.call;
    this.#relay = parts.relay;
    this.#wanted = objectIn(message.params, 'notifications') ?? {};
  }

  async open(told: JsonObject): Promise<void> {
    const capabilities = objectIn(told, 'capabilities') ?? {};
    const honored: Record<string, JsonObject[string]> = {};
    for (const [feature, section] of listChanges)
      if (this.#wanted[feature] === true && has(capabilities, section, 'listChanged')) honored[feature] = true;
    const uris = await this.#subscribe(capabilities);
    if (uris.length > 0) honored['resourceSubscriptions'] = uris;
    if (this.#relay.over) return;
    this.#tell('notifications/subscriptions/acknowledged', { notifications: honored });
    if (Object.keys(honored).length === 0) this.#end();
    else this.#relay.carry(this.#listen(honored));
  }

  async #subscribe(capabilities: JsonObject): Promise<string[]> {
    const asked = this.#wanted['resourceSubscriptions'];
    if (!Array.isArray(asked) || !has(capabilities, 'resources', 'subscribe')) return [];
    const uris = asked.filter((uri) => typeof uri === 'string');
    const subscribed: string[] = [];
    for (const [at, uri] of uris.entries()) {
      const request = {
        kind: 'request',
        id: `gw-subscribe-${at}`,
        method: 'resources/subscribe',
        params: { uri },
      } as const;
      if (await attempt(this.#connection, request, this.#call)) subscribed.push(uri);
    }
    return subscribed;
  }

  #listen(honored: JsonObject): Calling {
    const sink: CallSink = {
      onMessage: (message) => {
        if (message.kind === 'notification' && isHonored(message.method, honored))
          this.#tell(message.method, message.params);
        else if (message.kind === 'request') reply(this.#connection, message, this.#call);
      },
      onEnd: (failure) => this.#ended(failure),
    };
    return this.#connection.listen(this.#call, sink);
  }

  #ended(failure: TargetFailure | null): void {
    if (failure === null || failure.kind === 'unsupported') this.#end();
    else this.#relay.onEnd(failure);
  }

  #tell(method: string, params: JsonObject | undefined): void {
    const stamped = withMeta(params, { [SUBSCRIPTION_META]: this.#message.id });
    this.#relay.onMessage({ kind: 'notification', method, params: stamped });
  }

  #end(): void {
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION_META]: this.#message.id } };
    this.#relay.answer({ kind: 'result', id: this.#message.id, result });
  }
}

const listChanges = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const;

const features: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
  'notifications/resources/updated': 'resourceSubscriptions',
};

function isHonored(method: string, honored: JsonObject): boolean {
  const feature = features[method];
  return feature !== undefined && honored[feature] !== undefined;
}
