import { GwError, messageOf } from '../../shared/errors.ts';
import { asArray, asNumber, asObject, asText, isObject, type JsonObject } from './lenient.ts';
import type { Severity, TraceEvent, TraceMessage } from './trace-event.ts';

const SEVERITIES: readonly string[] = ['success', 'info', 'warn', 'error'];

/** Reads one event's JSON text; throws `GW_TRACE_DECODE` when it is no event. */
export function parseTraceEvent(text: string): TraceEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notAnEvent(text, messageOf(error));
  }
  return decodeTraceEvent(value) ?? refuse(text);
}

/**
 * Reads an event of any proxy that speaks the protocol. Envelope fields are checked and defaulted; the message keeps
 * every field it came with, types that are unknown here included. Undefined when there is no typed message in it.
 */
export function decodeTraceEvent(value: unknown): TraceEvent | undefined {
  if (!isObject(value)) return undefined;
  const message = decodeMessage(value['message']);
  if (message === undefined) return undefined;
  const scope = Array.isArray(value['scope']) ? value['scope'].flatMap((part) => asText(part) ?? []) : [];
  const requestId = asText(value['requestId']);
  const startTime = asText(value['startTime']);
  return {
    eventStart: asNumber(value['eventStart']) ?? null,
    eventEnd: asNumber(value['eventEnd']) ?? 0,
    severity: severityOf(value['severity']),
    ...(scope.length > 0 ? { scope } : {}),
    ...(requestId === undefined ? {} : { requestId }),
    ...(startTime === undefined ? {} : { startTime }),
    message,
  };
}

function severityOf(value: unknown): Severity {
  // The list above holds exactly the members of the union.
  return typeof value === 'string' && SEVERITIES.includes(value) ? (value as Severity) : 'info';
}

function decodeMessage(value: unknown): TraceMessage | undefined {
  if (!isObject(value) || typeof value['type'] !== 'string') return undefined;
  const checked = { ...value, ...CHECKS[value['type']]?.(value) };
  // Known types have had their fields checked; an unknown type passes through and is shown as it is.
  return checked as unknown as TraceMessage;
}

type Check = (message: JsonObject) => JsonObject;

const snapshot: Check = (message) => ({
  stage: asText(message['stage']) ?? '',
  requestState: asObject(message['requestState']),
});
const outcome: Check = (message) => ({
  status: asNumber(message['status']) ?? null,
  error: asText(message['error']) ?? null,
});

const mcpFacts: Check = (message) => ({
  kind: asText(message['kind']) ?? 'request',
  method: asText(message['method']) ?? null,
  item: asText(message['item']) ?? null,
  protocolVersion: asText(message['protocolVersion']) ?? null,
  session: asText(message['session']) ?? null,
});
const mcpBecame: Check = (message) => ({
  ...mcpFacts(message),
  outcome: asText(message['outcome']) ?? 'ended',
  code: asNumber(message['code']) ?? null,
  status: asNumber(message['status']) ?? null,
  error: asText(message['error']) ?? null,
  notifications: asNumber(message['notifications']) ?? 0,
  requests: asNumber(message['requests']) ?? 0,
});

/** Fields that readers rely on, forced to their types. */
const CHECKS: Readonly<Record<string, Check>> = {
  requestSnapshot: snapshot,
  responseSnapshot: snapshot,
  bodySnapshot: (message) => ({ stage: asText(message['stage']) ?? '', body: asText(message['body']) ?? '' }),
  cel: (message) => ({ expr: asText(message['expr']) ?? '', requestState: asObject(message['requestState']) }),
  routeSelection: (message) => ({
    selectedRoute: asText(message['selectedRoute']) ?? null,
    evaluatedRoutes: texts(message['evaluatedRoutes']),
    ...('rejectedRoutes' in message
      ? { rejectedRoutes: asArray(message['rejectedRoutes']).flatMap(rejectedRoute) }
      : {}),
  }),
  policySelection: (message) => ({
    phase: asText(message['phase']) ?? '',
    effectivePolicy: asObject(message['effectivePolicy']),
  }),
  policy: (message) => ({ kind: asText(message['kind']) ?? '', result: policyResult(message['result']) }),
  policyEvent: (message) => ({
    kind: asText(message['kind']) ?? '',
    details: asText(message['details']) ?? asObject(message['details']),
  }),
  llmRouteResolved: (message) => ({
    provider: asText(message['provider']) ?? '',
    routeType: asText(message['routeType']) ?? '',
  }),
  llmRequestDetected: (message) => ({
    provider: asText(message['provider']) ?? '',
    inputFormat: asText(message['inputFormat']) ?? '',
    upstreamRouteType: asText(message['upstreamRouteType']) ?? null,
    requestModel: asText(message['requestModel']) ?? null,
    streaming: message['streaming'] === true,
  }),
  llmStreamingTranslation: (message) => ({
    provider: asText(message['provider']) ?? '',
    inputFormat: asText(message['inputFormat']) ?? '',
    upstreamRouteType: asText(message['upstreamRouteType']) ?? null,
    streamFormat: asText(message['streamFormat']) ?? '',
  }),
  traceSampling: (message) => ({ decision: asText(message['decision']) ?? '' }),
  authorizationResult: (message) => ({
    rules: (Array.isArray(message['rules']) ? message['rules'] : []).map(rule),
    result: message['result'] === 'allow' ? 'allow' : 'deny',
  }),
  mcpRequest: mcpFacts,
  mcpResponse: mcpBecame,
  mcpCallStart: (message) => ({
    ...mcpFacts(message),
    target: asText(message['target']) ?? '',
    transport: asText(message['transport']) ?? '',
  }),
  mcpCallResult: (message) => ({ ...mcpBecame(message), target: asText(message['target']) ?? '' }),
  backendCallStart: (message) => {
    const request = asText(message['request']);
    return { target: asText(message['target']) ?? '', ...(request === undefined ? {} : { request }) };
  },
  backendCallResult: outcome,
  requestFinished: outcome,
  dropped: (message) => ({ count: asNumber(message['count']) ?? 0 }),
  message: (message) => ({ text: asText(message['text']) ?? '' }),
};

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap((item) => asText(item) ?? []) : [];
}

function rejectedRoute(value: unknown): readonly JsonObject[] {
  if (!isObject(value)) return [];
  return [
    {
      ...value,
      route: asText(value['route']) ?? '?',
      failed: asText(value['failed']) ?? '?',
      expected: asText(value['expected']) ?? '',
      actual: asText(value['actual']) ?? null,
    },
  ];
}

function rule(value: unknown): JsonObject {
  const found = asObject(value);
  const source = asText(found['source']);
  return {
    name: asText(found['name']) ?? '',
    matched: found['matched'] === true,
    mode: asText(found['mode']) ?? '',
    ...(source === undefined ? {} : { source }),
  };
}

function policyResult(value: unknown): JsonObject {
  const result = asObject(value);
  if (result['type'] === 'skip') return { type: 'skip', reason: asText(result['reason']) ?? '' };
  return {
    type: 'apply',
    details: asText(result['details']) ?? '',
    snapshot: isObject(result['snapshot']) ? result['snapshot'] : null,
  };
}

function refuse(text: string): never {
  throw notAnEvent(text, 'no message with a type in it');
}

function notAnEvent(text: string, why: string): GwError {
  const excerpt = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return new GwError(`failed to decode trace event: ${why}: ${excerpt}`, { code: 'GW_TRACE_DECODE' });
}
