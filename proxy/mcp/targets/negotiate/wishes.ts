import type { JsonValue } from '../../../../src/shared/json.ts';
import type { RpcRequest } from '../../message/message.ts';
import { mayKeep } from './kept-addresses.ts';

/** What a legacy client has asked its session to be like; outlives the sessions of the target, and its generation. */
export class Wishes {
  readonly #subscriptions = new Map<string, RpcRequest>();
  #level: RpcRequest | null = null;

  get level(): JsonValue | undefined {
    return this.#level?.params?.['level'];
  }

  get subscribed(): readonly string[] {
    return [...this.#subscriptions.keys()];
  }

  /** False for what is no wish, and for what would be too much. */
  note(message: RpcRequest): boolean {
    const { uri, level } = message.params ?? {};
    switch (message.method) {
      case 'logging/setLevel':
        if (typeof level === 'string') this.#level = message;
        return true;
      case 'resources/unsubscribe':
        if (typeof uri === 'string') this.#subscriptions.delete(uri);
        return typeof uri === 'string';
      case 'resources/subscribe':
        if (typeof uri !== 'string' || !mayKeep(this.#subscriptions, uri)) return false;
        this.#subscriptions.set(uri, message);
        return true;
      default:
        return false;
    }
  }

  /** To say all of it once more, under ids of the gateway. */
  *requests(): Generator<RpcRequest> {
    if (this.#level !== null) yield { ...this.#level, id: 'gw-level' };
    let count = 0;
    for (const request of this.#subscriptions.values()) yield { ...request, id: `gw-subscribe-${count++}` };
  }
}
