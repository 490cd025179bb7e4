import { randomUUID } from 'node:crypto';

import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { RequestId, RpcAnswer, RpcFailure, RpcRequest } from '../../message/message.ts';
import { objectIn } from './words.ts';

/** What a modern server needs to know before it answers. */
export interface InputNeeded {
  /** By the server's own keys. */
  readonly requests: ReadonlyMap<string, { readonly method: string; readonly params: JsonObject | undefined }>;
  /** Goes back as it came. */
  readonly state: JsonValue | undefined;
}

/** Null where the result is an answer. */
export function inputNeeded(result: JsonObject): InputNeeded | null {
  if (result['resultType'] !== 'input_required') return null;
  const requests = new Map<string, { method: string; params: JsonObject | undefined }>();
  for (const [key, value] of Object.entries(objectIn(result, 'inputRequests') ?? {})) {
    if (!isJsonObject(value) || typeof value['method'] !== 'string') continue;
    requests.set(key, { method: value['method'], params: objectIn(value, 'params') });
  }
  return { requests, state: result['requestState'] };
}

/** One round: the questions of a modern server as requests to a legacy client, and its answers. */
export class InputRound {
  readonly #needed: InputNeeded;
  readonly #open = new Map<RequestId, string>();
  readonly #answers: Record<string, JsonValue> = {};
  readonly requests: readonly RpcRequest[];

  constructor(needed: InputNeeded, nextId: () => RequestId) {
    this.#needed = needed;
    const requests: RpcRequest[] = [];
    for (const [key, { method, params }] of needed.requests) {
      const id = nextId();
      this.#open.set(id, key);
      requests.push({ kind: 'request', id, method, params: identified(method, params) });
    }
    this.requests = requests;
  }

  get complete(): boolean {
    return this.#open.size === 0;
  }

  get openIds(): Iterable<RequestId> {
    return this.#open.keys();
  }

  /** An error of the client ends the call: servers have no word for it. */
  take(answer: RpcAnswer): RpcFailure | null {
    const key = answer.id === null ? undefined : this.#open.get(answer.id);
    if (answer.id === null || key === undefined) return null;
    this.#open.delete(answer.id);
    if (answer.kind === 'error') return answer.error;
    this.#answers[key] = answer.result;
    return null;
  }

  /** The parameters of the next call. */
  answered(params: JsonObject | undefined): JsonObject {
    const { state } = this.#needed;
    const { inputResponses: _responses, requestState: _state, ...rest } = params ?? {};
    return {
      ...rest,
      ...(this.requests.length > 0 ? { inputResponses: this.#answers } : {}),
      ...(state === undefined ? {} : { requestState: state }),
    };
  }
}

/** Where people are sent to an address, legacy clients want an id, by which they would hear that it is done. */
function identified(method: string, params: JsonObject | undefined): JsonObject | undefined {
  const sends = method === 'elicitation/create' && params?.['mode'] === 'url';
  return sends && params['elicitationId'] === undefined ? { ...params, elicitationId: randomUUID() } : params;
}
