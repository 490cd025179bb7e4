import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { RpcNotification } from '../../message/message.ts';

/**
 * The progress of one request at several targets as one: clients expect a number that only grows, so the client is told
 * the sum, and a total once every target that reports has one.
 */
export class ProgressSum {
  readonly #token: JsonValue | undefined;
  readonly #reported = new Map<number, { progress: number; total: number | null }>();

  constructor(params: JsonObject | undefined) {
    const meta = params?.['_meta'];
    this.#token = isJsonObject(meta) ? meta['progressToken'] : undefined;
  }

  /** Other notifications come back as they are. */
  merge(target: number, notification: RpcNotification): RpcNotification {
    const { method, params } = notification;
    if (method !== 'notifications/progress' || this.#token === undefined || params === undefined) return notification;
    const { progress, total } = params;
    if (params['progressToken'] !== this.#token || typeof progress !== 'number') return notification;
    this.#reported.set(target, { progress, total: typeof total === 'number' ? total : null });
    if (this.#reported.size === 1) return notification;
    return { ...notification, params: this.#sum(params) };
  }

  #sum(params: JsonObject): JsonObject {
    let progress = 0;
    let total: number | null = 0;
    for (const part of this.#reported.values()) {
      progress += part.progress;
      total = total === null || part.total === null ? null : total + part.total;
    }
    const { total: _own, ...rest } = params;
    return total === null ? { ...rest, progress } : { ...rest, progress, total };
  }
}
