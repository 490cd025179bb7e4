/** Operations by what a path of the HTTP binding ends with; `/v1` before it is of the older version. */
const OPERATIONS: readonly (readonly [method: string, path: RegExp, name: string])[] = [
  ['POST', /\/message:send$/, 'SendMessage'],
  ['POST', /\/message:stream$/, 'SendStreamingMessage'],
  ['POST', /\/tasks\/[^/]+:cancel$/, 'CancelTask'],
  ['GET', /\/tasks\/[^/]+:subscribe$/, 'SubscribeToTask'],
  ['POST', /\/tasks\/[^/]+:subscribe$/, 'SubscribeToTask'],
  ['POST', /\/tasks\/[^/]+\/pushNotificationConfigs$/, 'CreateTaskPushNotificationConfig'],
  ['GET', /\/tasks\/[^/]+\/pushNotificationConfigs$/, 'ListTaskPushNotificationConfigs'],
  ['GET', /\/tasks\/[^/]+\/pushNotificationConfigs\/[^/]+$/, 'GetTaskPushNotificationConfig'],
  ['DELETE', /\/tasks\/[^/]+\/pushNotificationConfigs\/[^/]+$/, 'DeleteTaskPushNotificationConfig'],
  ['GET', /\/tasks\/[^/:]+$/, 'GetTask'],
  ['GET', /\/tasks$/, 'ListTasks'],
  ['GET', /\/extendedAgentCard$|\/v1\/card$/, 'GetExtendedAgentCard'],
];

/** Methods of JSON-RPC in the older spelling. */
const OLDER: readonly string[] = [
  'message/send',
  'message/stream',
  'tasks/get',
  'tasks/cancel',
  'tasks/resubscribe',
  'tasks/pushNotificationConfig/set',
  'tasks/pushNotificationConfig/get',
  'tasks/pushNotificationConfig/list',
  'tasks/pushNotificationConfig/delete',
  'agent/getAuthenticatedExtendedCard',
];

const KNOWN: ReadonlySet<string> = new Set([...OPERATIONS.map(([, , name]) => name), ...OLDER, 'unknown']);

/** The operation that a request of the HTTP binding asks for, by its name in JSON-RPC; null when it is none. */
export function operationOf(method: string, path: string): string | null {
  for (const [verb, pattern, name] of OPERATIONS) if (verb === method && pattern.test(path)) return name;
  return null;
}

/** The service of gRPC, in both versions of the protocol. */
const SERVICE = /^\/(?:lf\.)?a2a\.v1\.A2AService\/(\w{1,128})$/;

/** The operation that a path of the gRPC binding names; `unknown` for other services. */
export function grpcOperationOf(path: string): string {
  return SERVICE.exec(path)?.[1] ?? 'unknown';
}

/** Whether what comes of it is a card. */
export function asksForCard(method: string): boolean {
  return method === 'GetExtendedAgentCard' || method === 'agent/getAuthenticatedExtendedCard';
}

/** A label with few values, whatever clients write. */
export function methodLabel(method: string): string {
  return KNOWN.has(method) ? method : 'other';
}
