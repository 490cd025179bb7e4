import type { JsonObject } from '../../../src/shared/json.ts';

/** Requests of clients that the modern versions know. */
const MODERN_METHODS: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
  'subscriptions/listen',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
]);

/** Messages that the older versions know beside them. */
const LEGACY_METHODS: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

/** Which parameter `Mcp-Name` repeats. */
const NAME_FIELDS: ReadonlyMap<string, 'name' | 'uri' | 'taskId'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/**
 * Whether a client of a modern version may ask it: the handshake, `ping`, log levels and subscriptions to single resources
 * went with the sessions.
 */
export function isModernMethod(method: string): boolean {
  return MODERN_METHODS.has(method);
}

/** Whether any version has a message of clients of this name. */
export function isKnownMethod(method: string): boolean {
  return MODERN_METHODS.has(method) || LEGACY_METHODS.has(method);
}

/** The item that a request is about; null where the method has none, undefined where the request does not name it. */
export function itemNameOf(method: string, params: JsonObject | undefined): string | null | undefined {
  const field = NAME_FIELDS.get(method);
  if (field === undefined) return null;
  const name = params?.[field];
  return typeof name === 'string' ? name : undefined;
}
