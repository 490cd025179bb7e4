import type { McpItem } from '../guard/contract.ts';

/** A kind of list: which member of the result it is, and what its items are known by. */
export interface ListRoute {
  readonly kind: 'list';
  readonly member: 'tools' | 'prompts' | 'resources' | 'resourceTemplates' | 'tasks';
  readonly key: 'name' | 'uri' | 'uriTemplate' | 'taskId';
  readonly item: McpItem['kind'];
  /** What a target says when such lists of it are not what they were. */
  readonly changed: string | null;
}

/** For the target that has the item. */
export interface ItemRoute {
  readonly kind: 'item';
  readonly item: McpItem['kind'];
  readonly key: 'name' | 'uri' | 'taskId';
  /** Processors see the request with its parameters. */
  readonly guarded: boolean;
}

export type Route =
  | ListRoute
  | ItemRoute
  /** `completion/complete`: for the target of its `ref`. */
  | { readonly kind: 'reference' }
  | { readonly kind: 'initialize' | 'discover' | 'listen' }
  /** Every target gets it and has nothing to say but yes. */
  | { readonly kind: 'everybody' };

const list = (
  member: ListRoute['member'],
  key: ListRoute['key'],
  item: ListRoute['item'],
  changed: string | null,
): ListRoute => ({ kind: 'list', member, key, item, changed });
const item = (kind: ItemRoute['item'], key: ItemRoute['key'], guarded = false): ItemRoute => ({
  kind: 'item',
  item: kind,
  key,
  guarded,
});

const task = item('task', 'taskId');
const address = item('resource', 'uri');

/** Which way a request goes, by method. */
const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['tools/call', item('tool', 'name', true)],
  ['prompts/get', item('prompt', 'name', true)],
  ['resources/read', item('resource', 'uri', true)],
  ['resources/subscribe', address],
  ['resources/unsubscribe', address],
  ['tasks/get', task],
  ['tasks/update', task],
  ['tasks/cancel', task],
  ['tasks/result', task],
  ['tools/list', list('tools', 'name', 'tool', 'notifications/tools/list_changed')],
  ['prompts/list', list('prompts', 'name', 'prompt', 'notifications/prompts/list_changed')],
  ['resources/list', list('resources', 'uri', 'resource', 'notifications/resources/list_changed')],
  [
    'resources/templates/list',
    list('resourceTemplates', 'uriTemplate', 'resource', 'notifications/resources/list_changed'),
  ],
  ['tasks/list', list('tasks', 'taskId', 'task', null)],
  ['completion/complete', { kind: 'reference' }],
  ['initialize', { kind: 'initialize' }],
  ['server/discover', { kind: 'discover' }],
  ['subscriptions/listen', { kind: 'listen' }],
  ['ping', { kind: 'everybody' }],
  ['logging/setLevel', { kind: 'everybody' }],
]);

/** Undefined for a method that nobody knows; a single target may. */
export function routeOf(method: string): Route | undefined {
  return routes.get(method);
}

/** The list that names the items of a kind, for look-ups by name. */
export const listOf = { tool: 'tools/list', prompt: 'prompts/list' } as const;

/** Lists that a notification of a target outdates; none for other notifications. */
export function outdated(notification: string): readonly string[] {
  return changes.get(notification) ?? [];
}

const changes = new Map<string, string[]>();
for (const [method, route] of routes) {
  if (route.kind !== 'list' || route.changed === null) continue;
  const methods = changes.get(route.changed);
  if (methods === undefined) changes.set(route.changed, [method]);
  else methods.push(method);
}
