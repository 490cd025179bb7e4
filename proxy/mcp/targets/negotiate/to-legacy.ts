import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { RpcMessage, RpcNotification, RpcRequest } from '../../message/message.ts';
import { metaOf, withMeta, withoutEnvelope } from '../../message/meta.ts';
import { resultFor } from '../../message/result-fields.ts';
import type { Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
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

/** From the least severe on. */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Whether it is a log message that the client of the request has not asked for: servers of sessions log as they like. */
export function unwantedLog(notification: RpcNotification, { params }: RpcRequest): boolean {
  if (notification.method !== 'notifications/message') return false;
  const asked = LEVELS.indexOf(String(metaOf(params)?.[LOG_LEVEL_META]));
  return asked === -1 || LEVELS.indexOf(String(notification.params?.['level'])) < asked;
}

/** A target may have a stream and not say so before there is something to tell. */
const OPENING_MS = 1000;

export interface SubscriptionParts {
  readonly call: TargetCall;
  readonly relay: Relay;
  readonly clock: Clock;
}

/** `subscriptions/listen` of a modern client: the stream and the subscriptions of a legacy session, for as long as it lasts. */
export class Subscription {
  readonly #connection: TargetConnection;
  readonly #message: RpcRequest;
  readonly #parts: SubscriptionParts;
  readonly #wanted: JsonObject;
  /** What the client is told of; null before it has heard what that is. */
  #honored: JsonObject | null = null;
  /** Came before. */
  readonly #early: RpcNotification[] = [];
  /** How the stream has ended. */
  #over: { readonly failure: TargetFailure | null } | null = null;

  constructor(connection: TargetConnection, message: RpcRequest, parts: SubscriptionParts) {
    this.#connection = connection;
    this.#message = message;
    this.#parts = parts;
    this.#wanted = objectIn(message.params, 'notifications') ?? {};
  }

  open(told: JsonObject): void {
    const capabilities = objectIn(told, 'capabilities') ?? {};
    const honored: Record<string, JsonObject[string]> = {};
    for (const [feature, section] of listChanges)
      if (this.#wanted[feature] === true && has(capabilities, section, 'listChanged')) honored[feature] = true;
    const asked = this.#wanted['resourceSubscriptions'];
    const listed = Array.isArray(asked) && has(capabilities, 'resources', 'subscribe') ? asked : [];
    const uris = listed.filter((uri) => typeof uri === 'string');
    if (uris.length > 0 || Object.keys(honored).length > 0) void this.#begin(honored, uris);
    else this.#acknowledge(honored);
  }

  /** The stream is there first: the client may change something as soon as it knows that it is told of it. */
  async #begin(honored: JsonObject, uris: readonly string[]): Promise<void> {
    const { relay } = this.#parts;
    const opened = Promise.withResolvers<void>();
    const unschedule = this.#parts.clock.schedule(opened.resolve, OPENING_MS);
    relay.carry(this.#listen(opened.resolve));
    const subscribed = await this.#subscribe(uris);
    await opened.promise;
    unschedule();
    if (relay.over) return;
    this.#acknowledge(subscribed.length > 0 ? { ...honored, resourceSubscriptions: subscribed } : honored);
  }

  #acknowledge(honored: JsonObject): void {
    this.#honored = honored;
    this.#tell('notifications/subscriptions/acknowledged', { notifications: honored });
    for (const each of this.#early.splice(0)) this.#heard(each);
    if (this.#over !== null) this.#ended(this.#over.failure);
    else if (Object.keys(honored).length === 0) this.#end();
  }

  async #subscribe(uris: readonly string[]): Promise<string[]> {
    const subscribed: string[] = [];
    for (const [at, uri] of uris.entries()) {
      const id = `gw-subscribe-${at}`;
      const request = { kind: 'request', id, method: 'resources/subscribe', params: { uri } } as const;
      if (await attempt(this.#connection, request, this.#parts.call)) subscribed.push(uri);
    }
    return subscribed;
  }

  #listen(opened: () => void): Calling {
    const { call } = this.#parts;
    return this.#connection.listen(call, {
      onOpen: opened,
      onMessage: (message) => {
        if (message.kind === 'notification') this.#heard(message);
        else if (message.kind === 'request') reply(this.#connection, message, call);
      },
      onEnd: (failure) => {
        this.#over = { failure };
        opened();
        if (this.#honored !== null) this.#ended(failure);
      },
    });
  }

  #heard(notification: RpcNotification): void {
    if (this.#honored === null) {
      if (this.#early.length < MAX_EARLY) this.#early.push(notification);
    } else if (isHonored(notification.method, this.#honored)) this.#tell(notification.method, notification.params);
  }

  #ended(failure: TargetFailure | null): void {
    if (failure === null || failure.kind === 'unsupported') this.#end();
    else this.#parts.relay.onEnd(failure);
  }

  #tell(method: string, params: JsonObject | undefined): void {
    const stamped = withMeta(params, { [SUBSCRIPTION_META]: this.#message.id });
    this.#parts.relay.onMessage({ kind: 'notification', method, params: stamped });
  }

  #end(): void {
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION_META]: this.#message.id } };
    this.#parts.relay.abort({ kind: 'result', id: this.#message.id, result });
  }
}

/** Who tells more than that at once tells the same again and again. */
const MAX_EARLY = 64;

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
